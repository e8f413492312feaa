// SPDX-License-Identifier: Apache-2.0
#include "weft/snapshot.h"

#include <utility>

#include "init_config.h"
#include "message.h"
#include "session_control.h"
#include "snapshot_request.h"

namespace weft {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kMaxAfter = std::chrono::hours(1);

using Finish = std::function<void(const Result<SnapshotInfo>&)>;

Result<void> check(const SnapshotOptions& options) {
  if (options.before.count() < 0)
    return Error{ErrorCode::kInvalidArgument,
                 "before = " + std::to_string(options.before.count()) +
                     " ns: must be 0 or more"};
  if (options.after.count() < 0 || options.after > kMaxAfter)
    return Error{ErrorCode::kInvalidArgument,
                 "after = " + std::to_string(options.after.count()) +
                     " ns: must lie between 0 and 1 h"};
  return {};
}

void post_to(const RunningSession& session, const SnapshotOptions& options,
             Finish finish) {
  Command command;
  command.kind = Command::Kind::kSnapshot;
  command.subscription = session.subscription;
  command.snapshot.numbered = options.output.empty();
  command.snapshot.path = command.snapshot.numbered
                              ? session.output
                              : expand_path(options.output);
  command.snapshot.reason = options.reason;
  command.snapshot.finish = std::move(finish);
  command.before = options.before;
  command.after = options.after;
  session.runtime->drainer->order(std::move(command));
}

// Says what became of it, on the helper: the drainer, which refuses, must not
// wait for a terminal.
Finish say_result(std::string reason) {
  return [reason = std::move(reason)](const Result<SnapshotInfo>& result) {
    std::string line = "snapshot (" + reason + "): ";
    line += result.ok() ? result->path + ", " +
                              std::to_string(result->records) + " records"
                        : result.error().message;
    Runtime::instance()->helper->post([line] { say_once(line); });
  };
}

// A result on its way to the thread that waits for it.
struct Answer {
  Completion completion;
  Result<SnapshotInfo> result = Error{
      ErrorCode::kTimeout, "the snapshot is not complete yet"};
};

}  // namespace

Result<SnapshotInfo> take_snapshot(const SnapshotOptions& options,
                                   std::chrono::milliseconds timeout) {
  auto answer = std::make_shared<Answer>();
  if (Result<void> checked = check(options); !checked.ok())
    return checked.error();
  const Result<void> posted = with_session([&](const RunningSession& session) {
    if (options.after.count() == 0) wait_for_records(*session.runtime);
    post_to(session, options, [answer](const Result<SnapshotInfo>& result) {
      answer->result = result;
      answer->completion.finish();
    });
  });
  if (!posted.ok()) return posted.error();
  const auto after =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.after);
  if (answer->completion.wait_for(after + timeout)) return answer->result;
  return Error{ErrorCode::kTimeout,
               "the snapshot is not complete after " +
                   std::to_string((after + timeout).count()) + " ms"};
}

Result<void> request_snapshot(const SnapshotOptions& options) {
  if (Result<void> checked = check(options); !checked.ok()) return checked;
  return with_session([&](const RunningSession& session) {
    post_to(session, options, say_result(options.reason));
  });
}

bool try_request_snapshot(const std::string& reason) {
  SnapshotOptions options;
  options.reason = reason;
  return try_with_session([&](const RunningSession& session) {
    post_to(session, options, say_result(reason));
  });
}

}  // namespace weft
