// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_TRACE_FILE_H_
#define WEFT_TOOLS_WEFT_TRACE_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "terminal.h"
#include "weft/export/trace_reader.h"

namespace weft::tools {

// Opens a .weft file. Empty if it cannot be read, which it then has said why.
std::optional<exporters::TraceReader> open_trace(const std::string& path);

// Says why a file cannot be read, in a line that begins with its path.
ExitCode refuse(const std::string& path, const Error& error);

// Says in a line on standard error what a reader of results must know: that
// the file is cut, or has problems.
void remark(const std::string& path, const exporters::TraceInfo& info);

// "PATH: at byte N: reason".
std::string problem_text(const std::string& path,
                         const exporters::TraceProblem& problem);

// Whether `to` may be written: it is not `from`, and does not exist or `force`
// is given. Says why not.
enum class Overwrite : std::uint8_t { kRefuse, kAllow };
bool may_write(const std::string& from, const std::string& to,
               Overwrite overwrite);

// "ring full", as the file's losses name their reason.
std::string drop_reason_text(DropReason reason);

struct LossSum {
  DropReason reason = DropReason::kNone;
  ThreadIndex thread = ThreadIndex::kNone;  // kNone: of all
  std::uint64_t records = 0;
};
// Most records first; without those of no records.
std::vector<LossSum> losses_by_reason(const exporters::TraceInfo& info);
std::vector<LossSum> losses_by_thread(const exporters::TraceInfo& info);
std::uint64_t lost_records(const exporters::TraceInfo& info);

// `worker (thread 3, tid 4711)`.
std::string thread_text(const exporters::TraceInfo& info, ThreadIndex thread);
const ThreadInfo* find_thread(const exporters::TraceInfo& info,
                              ThreadIndex thread);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_TRACE_FILE_H_
