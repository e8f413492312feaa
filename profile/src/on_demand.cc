// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/on_demand.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "call_observers.h"
#include "call_stack.h"
#include "kept_records.h"
#include "trace_categories.h"
#include "weft/subscription.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using profile::KeptRecords;
using std::chrono::milliseconds;

constexpr std::int64_t kSoonMs = 2000;     // a start that names no time
constexpr std::int64_t kTickMs = 1000;     // how often poll() comes
constexpr std::int64_t kTooOldMs = 10'000;
constexpr std::size_t kWarmBytes = 1u << 20;
constexpr std::size_t kMaxFileBytes = 1u << 20;

std::int64_t system_ms() {
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Error invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

// The process in front of the suffix: several may get one text.
std::string with_process(const std::string& path) {
  for (const std::string suffix :
       {".pt.trace.json.gz", ".pt.trace.json", ".json.gz", ".json", ".weft"}) {
    if (path.size() <= suffix.size() ||
        path.compare(path.size() - suffix.size(), suffix.size(), suffix) != 0)
      continue;
    return path.substr(0, path.size() - suffix.size()) + "_" +
           std::to_string(getpid()) + suffix;
  }
  return path;
}

bool lies_in(const fs::path& path, const std::string& directory) {
  std::error_code failed;
  const fs::path parent = fs::weakly_canonical(path.parent_path(), failed);
  if (failed) return false;
  const fs::path allowed = fs::weakly_canonical(directory, failed);
  if (failed) return false;
  const auto [end, rest] = std::mismatch(allowed.begin(), allowed.end(),
                                         parent.begin(), parent.end());
  return end == allowed.end();
}

std::string file_for(const OnDemandConfig& config,
                     const OnDemandOptions& options,
                     std::vector<std::string>& warnings) {
  const std::string first =
      options.directories.empty() ? "/tmp" : options.directories.front();
  const std::string standard = first + "/weft_activities.json";
  if (config.log_file.empty()) return with_process(standard);
  const bool allowed =
      config.log_file.front() == '/' &&
      config.log_file.find("..") == std::string::npos &&
      std::any_of(options.directories.begin(), options.directories.end(),
                  [&](const std::string& directory) {
                    return lies_in(config.log_file, directory);
                  });
  if (allowed) return with_process(config.log_file);
  warnings.push_back("ACTIVITIES_LOG_FILE = " + config.log_file +
                     " is in no directory for traces and is ignored");
  return with_process(standard);
}

ProfilerOptions profiler_options(const OnDemandConfig& config) {
  ProfilerOptions options;
  options.coverage = ThreadCoverage::kAllThreads;
  options.record_shapes = config.record_shapes || config.with_flops;
  options.profile_memory = config.profile_memory;
  options.with_stack = config.with_stack;
  options.with_modules = config.with_modules;
  return options;
}

}  // namespace

struct OnDemandProfiler::State {
  explicit State(OnDemandOptions the_options)
      : options(std::move(the_options)) {}

  // With the mutex held, as all below.
  std::int64_t now() const {
    return options.clock ? options.clock() : system_ms();
  }
  Result<void> plan(std::int64_t now_ms, std::vector<std::string>& warnings);
  Result<void> advance(std::int64_t now_ms);
  Result<void> warm();
  Result<void> collect();
  Result<void> want(const ProfilerOptions& wanted);
  void want_nothing();
  // Takes the trace that is being collected; finish() may block.
  Subscription take_trace();
  void finished(const Result<SubscriptionEnd>& end);
  void reset();

  const OnDemandOptions options;
  const pid_t process = getpid();
  mutable std::mutex mutex;
  OnDemandStatus status;
  OnDemandConfig config;
  std::string file;
  bool by_iterations = false;
  std::int64_t start = 0;  // ms or iteration
  std::int64_t end = 0;
  profile::CallWants wants;
  std::optional<profile::CallObserver> observer;
  Subscription subscription;  // of the warm-up or of the trace
  std::string watched;
  std::string last_text;  // of the watched file
  std::thread writer;     // of a trace that ended in step()
};

Result<void> OnDemandProfiler::State::plan(std::int64_t now_ms,
                                           std::vector<std::string>& warnings) {
  if (config.duration > options.max_duration) {
    warnings.push_back(
        "the duration is cut to " +
        std::to_string(milliseconds(options.max_duration).count()) + " ms");
    config.duration = options.max_duration;
  }
  by_iterations = config.start_iteration >= 0 && config.iterations > 0;
  if (by_iterations && status.iteration < 0) {
    if (!config.has_duration)
      return invalid(
          "a start by iterations, but nobody calls step(), and no duration");
    warnings.push_back("nobody calls step(): the duration is taken instead");
    by_iterations = false;
  }
  if (by_iterations) {
    start = config.start_iteration;
    if (start - config.warmup_iterations <= status.iteration) {
      start = status.iteration + config.warmup_iterations + 1;
      if (const std::int64_t unit = config.start_iteration_roundup; unit > 0)
        start = (start + unit - 1) / unit * unit;
    }
    end = start + config.iterations;
    return {};
  }
  const std::int64_t warmup_ms = milliseconds(config.warmup).count();
  start = config.start_time_ms;
  if (start == 0) start = now_ms + warmup_ms + kSoonMs;
  if (start < now_ms - kTooOldMs)
    return invalid("PROFILE_START_TIME = " + std::to_string(start) +
                   " is more than 10 s in the past");
  if (start < now_ms + warmup_ms)
    return invalid("PROFILE_START_TIME = " + std::to_string(start) +
                   " leaves no time for a warm-up of " +
                   std::to_string(warmup_ms) + " ms");
  end = start + config.duration.count();
  return {};
}

Result<void> OnDemandProfiler::State::want(const ProfilerOptions& wanted) {
  const profile::CallWants wishes = profile::wants_for(wanted);
  if (wishes.stacks)
    if (Result<void> ready = profile::prepare_call_stacks(); !ready.ok())
      return ready;
  wants = wishes;
  profile::add_process_wants(wants);
  if (wants.any()) observer.emplace();
  return {};
}

void OnDemandProfiler::State::want_nothing() {
  observer.reset();
  // A forked child's copy wants nothing of its own.
  if (process == getpid())
    profile::remove_process_wants(std::exchange(wants, {}));
}

Result<void> OnDemandProfiler::State::warm() {
  const ProfilerOptions wanted = profiler_options(config);
  const std::shared_ptr<KeptRecords> thrown_away =
      KeptRecords::create(kWarmBytes, Overflow::kStopSession, {});
  if (thrown_away == nullptr)
    return Error{ErrorCode::kOutOfMemory, "no memory for the warm-up"};
  SubscriptionOptions how;
  how.name = "on-demand warm-up";
  how.categories = profile::categories_for(wanted);
  Result<Subscription> warming = subscribe(std::move(how), thrown_away);
  if (!warming.ok()) return warming.error();
  subscription = std::move(*warming);
  if (Result<void> wants_met = want(wanted); !wants_met.ok()) return wants_met;
  status.state = OnDemandState::kWarming;
  return {};
}

Result<void> OnDemandProfiler::State::collect() {
  const ProfilerOptions wanted = profiler_options(config);
  if (status.state == OnDemandState::kWarming) {
    (void)subscription.stop();
  } else if (Result<void> wants_met = want(wanted); !wants_met.ok()) {
    reset();
    return wants_met;
  }
  OutputOptions output;
  output.path = file;
  std::unique_ptr<Exporter> exporter;
  Error failed;
  weft_open_output(output, &exporter, &failed);
  if (exporter == nullptr) {
    reset();
    return failed;
  }
  SubscriptionOptions how;
  how.name = "on-demand " + config.trace_id;
  how.categories = profile::categories_for(wanted);
  how.limits.bytes = options.max_bytes;
  Result<Subscription> trace =
      subscribe(std::move(how), std::shared_ptr<Exporter>(std::move(exporter)));
  if (!trace.ok()) {
    reset();
    return trace.error();
  }
  subscription = std::move(*trace);
  status.state = OnDemandState::kCollecting;
  return {};
}

// Up to, but not including, the end of a trace.
Result<void> OnDemandProfiler::State::advance(std::int64_t now_ms) {
  const std::int64_t at = by_iterations ? status.iteration : now_ms;
  const std::int64_t warm_at =
      by_iterations
          ? start - config.warmup_iterations
          : start - milliseconds(config.warmup).count() - kTickMs;
  if (status.state == OnDemandState::kPending && at >= warm_at && at < start) {
    Result<void> warmed = warm();
    if (!warmed.ok()) reset();
    return warmed;
  }
  if ((status.state == OnDemandState::kPending ||
       status.state == OnDemandState::kWarming) &&
      at >= start)
    return collect();
  return {};
}

Subscription OnDemandProfiler::State::take_trace() {
  status.state = OnDemandState::kWriting;
  want_nothing();
  return std::move(subscription);
}

void OnDemandProfiler::State::finished(const Result<SubscriptionEnd>& ended) {
  status.state = OnDemandState::kWaiting;
  status.last_error.clear();
  if (!ended.ok()) {
    status.last_error = ended.error().message;
    return;
  }
  ++status.traces;
  status.last_file = file;
}

void OnDemandProfiler::State::reset() {
  subscription = Subscription();
  want_nothing();
  status.state = OnDemandState::kWaiting;
}

OnDemandProfiler::OnDemandProfiler(OnDemandOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

OnDemandProfiler::~OnDemandProfiler() {
  (void)cancel();
  if (state_->writer.joinable()) state_->writer.join();
}

Result<OnDemandAnswer> OnDemandProfiler::submit(std::string_view text) {
  Result<OnDemandConfig> config = parse_on_demand_config(text);
  if (!config.ok()) return config.error();
  State& state = *state_;
  const std::scoped_lock lock(state.mutex);
  if (state.status.state == OnDemandState::kPending)
    return Error{ErrorCode::kBusy, "another request is pending"};
  if (state.status.state != OnDemandState::kWaiting)
    return Error{ErrorCode::kBusy, "a trace is being collected"};
  if (!config->activities_enabled)
    return invalid("ACTIVITIES_ENABLED = false leaves nothing to trace");
  OnDemandAnswer answer;
  answer.warnings = config->warnings;
  state.config = std::move(*config);
  if (Result<void> planned = state.plan(state.now(), answer.warnings);
      !planned.ok())
    return planned.error();
  answer.file = state.file =
      file_for(state.config, state.options, answer.warnings);
  answer.triggered = 1;
  state.status.state = OnDemandState::kPending;
  return answer;
}

void OnDemandProfiler::watch_file(std::string path) {
  const std::scoped_lock lock(state_->mutex);
  state_->watched = std::move(path);
  state_->last_text.clear();
}

void OnDemandProfiler::step() {
  State& state = *state_;
  const std::scoped_lock lock(state.mutex);
  ++state.status.iteration;
  if (!state.by_iterations) return;
  if (Result<void> advanced = state.advance(0); !advanced.ok())
    state.status.last_error = advanced.error().message;
  if (state.status.state != OnDemandState::kCollecting ||
      state.status.iteration < state.end)
    return;
  if (state.writer.joinable()) state.writer.join();  // of an earlier trace
  state.writer = std::thread(
      [&state, trace = state.take_trace()]() mutable {
        const Result<SubscriptionEnd> ended = trace.stop();
        const std::scoped_lock in_writer(state.mutex);
        state.finished(ended);
      });
}

Result<void> OnDemandProfiler::poll() {
  State& state = *state_;
  std::optional<Subscription> trace;
  std::string watched;
  {
    const std::scoped_lock lock(state.mutex);
    const std::int64_t now_ms = state.now();
    if (!state.by_iterations) {
      if (Result<void> advanced = state.advance(now_ms); !advanced.ok()) {
        state.status.last_error = advanced.error().message;
        return advanced;
      }
      if (state.status.state == OnDemandState::kCollecting &&
          now_ms >= state.end)
        trace = state.take_trace();
    }
    watched = state.watched;
  }
  if (trace.has_value()) {
    const Result<SubscriptionEnd> ended = trace->stop();
    const std::scoped_lock lock(state.mutex);
    state.finished(ended);
    if (!ended.ok()) return ended.error();
  }
  if (watched.empty()) return {};
  std::ifstream in(watched);
  std::string text(kMaxFileBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(
      in.gcount(), 0)));
  {
    const std::scoped_lock lock(state.mutex);
    if (text.empty() || text == state.last_text) return {};
  }
  const Result<OnDemandAnswer> answer = submit(text);
  // What is refused because something runs comes again at the next poll.
  if (!answer.ok() && answer.error().code == ErrorCode::kBusy) return {};
  const std::scoped_lock lock(state.mutex);
  state.last_text = std::move(text);
  if (!answer.ok()) return answer.error();
  return {};
}

Result<void> OnDemandProfiler::cancel() {
  State& state = *state_;
  std::optional<Subscription> trace;
  {
    const std::scoped_lock lock(state.mutex);
    switch (state.status.state) {
      case OnDemandState::kPending:
      case OnDemandState::kWarming:
        state.reset();
        return {};
      case OnDemandState::kCollecting:
        trace = state.take_trace();
        break;
      default:
        return Error{ErrorCode::kNotRunning,
                     "no trace is pending or being collected"};
    }
  }
  (void)trace->stop();
  const std::scoped_lock lock(state.mutex);
  state.status.state = OnDemandState::kWaiting;
  std::error_code ignored;
  fs::remove(state.file, ignored);
  return {};
}

OnDemandStatus OnDemandProfiler::status() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->status;
}

}  // namespace weft
