// SPDX-License-Identifier: Apache-2.0
#include "profiler_session.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <unordered_map>

#include "call_decoder.h"
#include "call_stack.h"
#include "json_text.h"
#include "session_coverage.h"
#include "trace_categories.h"
#include "weft/clock_line.h"
#include "weft/internal/definitions.h"
#include "weft/span.h"

namespace weft {
namespace {

using profile::CallDecoder;
using profile::KeptRecords;
using std::chrono::steady_clock;

std::atomic<std::int64_t> default_node_id{-1};

// Adds the time from its construction to its end.
class Stopwatch {
 public:
  explicit Stopwatch(std::int64_t& total_ns)
      : total_ns_(total_ns), begun_(steady_clock::now()) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    total_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(
                     steady_clock::now() - begun_)
                     .count();
  }

 private:
  std::int64_t& total_ns_;
  steady_clock::time_point begun_;
};

// The records of one interval as events, by `line`'s time.
void decode(const KeptRecords& kept, const ClockLine& line,
            CallDecoder& decoder) {
  std::unordered_map<std::uint64_t, MonotoneTime> times;
  std::uint64_t last_key = ~std::uint64_t{0};
  MonotoneTime* time = nullptr;
  kept.for_each([&](const exporters::DecodedRecord& record) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(record.thread) << 1 |
        ((record.position & kSidePosition) != 0 ? 1 : 0);
    if (key != last_key) {
      time = &times.try_emplace(key, line).first->second;
      last_key = key;
    }
    decoder.add(record,
                (record.flags & kFlagMonotonic) != 0
                    ? time->next_ns(static_cast<std::int64_t>(record.tick))
                    : time->next(record.tick));
  });
}

bool is_memory(const RawEvent& event) {
  return event.name == kMemoryRecord || event.name == kOutOfMemoryRecord;
}

void post_process(const ProfilerOptions& options,
                  std::vector<RawEvent>& events) {
  if (!options.post_process) return;
  for (RawEvent& event : events) {
    if (is_memory(event)) continue;
    options.post_process({event.name, event.facts.debug_handle, event.stack,
                          event.facts.modules});
  }
}

}  // namespace

ProfilerSession::ProfilerSession(ProfilerOptions options)
    : given_(std::move(options)), validated_(validate(given_)) {
  options_ = validated_.ok() ? validated_->options : given_;
  if (validated_.ok()) warnings_ = validated_->warnings;
  trace_id_ = options_.trace_id;
}

ProfilerSession::~ProfilerSession() {
  if (running()) (void)stop();
}

Result<void> ProfilerSession::prepare() {
  if (!validated_.ok()) return validated_.error();
  if (!options_.enabled) return {};
  const Stopwatch watch(timing_.prepare_ns);
  return options_.with_stack ? profile::prepare_call_stacks() : Result<void>();
}

Result<void> ProfilerSession::start() {
  if (!validated_.ok()) return validated_.error();
  if (!options_.enabled) return {};
  if (running())
    return Error{ErrorCode::kBusy, "this profiler is recording already"};
  timing_ = {};
  if (Result<void> prepared = prepare(); !prepared.ok()) return prepared;
  const Stopwatch watch(timing_.start_ns);
  auto shared = std::make_shared<profile::SharedSession>();
  shared->number = profile::next_session_number();
  shared->coverage = options_.coverage;
  shared->wants = profile::wants_for(options_);
  if (Result<void> claimed = profile::claim_coverage(shared); !claimed.ok())
    return claimed;
  shared_ = std::move(shared);
  std::vector<std::shared_ptr<KeptRecords>> earlier;
  {
    const std::scoped_lock lock(mutex_);
    earlier = std::exchange(intervals_, {});
  }
  if (Result<void> begun = begin_interval(); !begun.ok()) {
    profile::give_up_coverage(*shared_);
    const std::scoped_lock lock(mutex_);
    intervals_ = std::move(earlier);
    return begun;
  }
  if (given_.trace_id.empty())
    trace_id_ = std::to_string(getpid()) + "-" +
                std::to_string(shared_->number);
  const std::scoped_lock lock(mutex_);
  result_ = nullptr;
  finished_ = false;
  state_ = State::kRecording;
  return {};
}

Result<void> ProfilerSession::begin_interval() {
  std::shared_ptr<KeptRecords> kept = KeptRecords::create(
      options_.max_host_bytes, options_.overflow,
      {options_.coverage, shared_->number});
  if (kept == nullptr)
    return Error{ErrorCode::kOutOfMemory,
                 "no address space for max_host_bytes = " +
                     std::to_string(options_.max_host_bytes)};
  SubscriptionOptions wanted;
  wanted.name = "profiler " + std::to_string(shared_->number);
  wanted.categories = profile::categories_for(options_);
  if (options_.overflow == Overflow::kDropOldest) {
    // The newest records lie in the pipeline until the end, and are then kept
    // with a header of two slots a run: at worst four times their size in all.
    wanted.limits.policy = LimitPolicy::kKeepNewest;
    wanted.limits.bytes = options_.max_host_bytes / 4;
  }
  if (shared_->wants.any()) observer_.emplace();
  Result<Subscription> subscribed = subscribe(std::move(wanted), kept);
  if (!subscribed.ok()) {
    observer_.reset();
    return subscribed.error();
  }
  if (options_.coverage != ThreadCoverage::kAllThreads) {
    const ThreadIndex owner = internal::thread_index();
    if (owner == ThreadIndex::kNone) {
      observer_.reset();
      (void)subscribed->stop();
      return Error{ErrorCode::kLimit,
                   "the thread that starts the session gets no ring"};
    }
    kept->cover(owner);
  }
  subscription_ = std::move(*subscribed);
  recording_ = std::move(kept);
  return {};
}

Result<void> ProfilerSession::end_interval() {
  observer_.reset();
  Result<SubscriptionEnd> end = subscription_.stop();
  if (!end.ok()) {
    recording_ = nullptr;
    return end.error();
  }
  const std::scoped_lock lock(mutex_);
  intervals_.push_back(std::move(recording_));
  return {};
}

Result<void> ProfilerSession::stop() {
  if (!options_.enabled && validated_.ok()) return {};
  if (!running())
    return Error{ErrorCode::kNotRunning, "this profiler is not recording"};
  const Stopwatch watch(timing_.stop_ns);
  Result<void> ended;
  if (state_ == State::kRecording) ended = end_interval();
  profile::give_up_coverage(*shared_);
  node_id_ = default_node_id.load(std::memory_order_relaxed);
  state_ = State::kIdle;
  const std::scoped_lock lock(mutex_);
  finished_ = true;
  return ended;
}

Result<void> ProfilerSession::pause() {
  if (state_ == State::kIdle)
    return Error{ErrorCode::kNotRunning, "this profiler is not recording"};
  if (state_ == State::kPaused)
    return Error{ErrorCode::kBusy, "this profiler is paused already"};
  state_ = State::kPaused;
  return end_interval();
}

Result<void> ProfilerSession::resume() {
  if (state_ == State::kIdle)
    return Error{ErrorCode::kNotRunning, "this profiler is not recording"};
  if (state_ == State::kRecording)
    return Error{ErrorCode::kBusy, "this profiler is not paused"};
  if (Result<void> begun = begin_interval(); !begun.ok()) return begun;
  state_ = State::kRecording;
  return {};
}

Result<void> ProfilerSession::add_metadata(std::string_view key,
                                           std::string json) {
  static constexpr std::string_view kReserved[] = {
      "schemaVersion", "displayTimeUnit", "traceEvents",    "trace_id",
      "host_name",     "record_shapes",   "profile_memory", "with_stack",
      "with_flops",    "with_modules"};
  if (key.empty() ||
      std::find(std::begin(kReserved), std::end(kReserved), key) !=
          std::end(kReserved))
    return Error{ErrorCode::kInvalidArgument,
                 "metadata key \"" + std::string(key) +
                     (key.empty() ? "\" is empty" : "\" is weft's own")};
  const std::scoped_lock lock(mutex_);
  const auto same =
      std::find_if(metadata_.begin(), metadata_.end(),
                   [&](const auto& pair) { return pair.first == key; });
  if (same != metadata_.end()) {
    same->second = std::move(json);
  } else {
    metadata_.emplace_back(key, std::move(json));
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> ProfilerSession::metadata()
    const {
  std::vector<std::pair<std::string, std::string>> all;
  all.emplace_back("trace_id", profile::json_string(trace_id_));
  if (!intervals_.empty())
    all.emplace_back("host_name",
                     profile::json_string(intervals_.front()->process().host));
  const std::pair<const char*, bool> switches[] = {
      {"record_shapes", options_.record_shapes},
      {"profile_memory", options_.profile_memory},
      {"with_stack", options_.with_stack},
      {"with_flops", options_.with_flops},
      {"with_modules", options_.with_modules}};
  for (const auto& [key, on] : switches)
    if (on) all.emplace_back(key, "1");
  all.insert(all.end(), metadata_.begin(), metadata_.end());
  return all;
}

Result<std::shared_ptr<const ProfilerResult>> ProfilerSession::result() {
  if (!validated_.ok()) return validated_.error();
  const std::scoped_lock lock(mutex_);
  if (options_.enabled && !finished_)
    return Error{ErrorCode::kNotFinished,
                 "the profiler has not finished: stop() comes first"};
  if (options_.experimental.trace_only)
    return Error{ErrorCode::kUnsupported,
                 "the session was told to make no events (trace_only)"};
  if (result_ == nullptr) {
    result_ = make_result();
    intervals_.clear();  // the records have become rows
  }
  return result_;
}

std::shared_ptr<const ProfilerResult> ProfilerSession::make_result() const {
  auto result = std::make_shared<ProfilerResult>();
  ProfilerStatistics& statistics = result->statistics_;
  statistics = timing_;
  EventListOptions list_options;
  list_options.profile_memory = options_.profile_memory;
  list_options.with_flops = options_.with_flops;
  list_options.device_name = options_.use_device;
  list_options.metadata = metadata();
  std::vector<RawEvent> raw;
  RawEventOptions raw_options;
  {
    const Stopwatch watch(statistics.parse_ns);
    CallDecoder decoder(profile::definitions_of_this_process(), options_,
                        node_id_);
    bool first = true;
    for (const auto& kept : intervals_) {
      ClockLine line(kept->process().tick_hz);
      for (const ClockAnchor& anchor : kept->anchors()) line.add(anchor);
      const std::int64_t start_ns = line.to_ns(kept->info().start_tick);
      const std::int64_t stop_ns = line.to_ns(kept->end().stop_tick);
      if (first) raw_options.trace_start_ns = start_ns;
      first = false;
      decode(*kept, line, decoder);
      decoder.close(stop_ns);
      statistics.window_ns += stop_ns - start_ns;
      statistics.records_outside_coverage += kept->outside_coverage();
      statistics.records_kept +=
          kept->end().delivered - kept->outside_coverage();
      statistics.host_bytes += kept->bytes();
      for (std::size_t i = 0; i < kDropReasons; ++i) {
        statistics.dropped[i] += kept->end().dropped[i];
        statistics.records_dropped += kept->end().dropped[i];
      }
      for (const ThreadInfo& thread : kept->threads())
        if (const std::string_view name = internal::text_of(thread.name);
            !name.empty())
          list_options.thread_names[static_cast<std::int64_t>(thread.index)] =
              name;
    }
    profile::DecodedCalls calls = decoder.take();
    raw = std::move(calls.events);
    statistics.unfinished = calls.unfinished;
    statistics.started_before = calls.started_before;
    statistics.incomplete_inputs = calls.incomplete_inputs;
    post_process(options_, raw);
  }
  for (const RawEvent& event : raw)
    if (is_memory(event)) result->memory_records_.push_back(event);
  std::stable_sort(result->memory_records_.begin(),
                   result->memory_records_.end(),
                   [](const RawEvent& a, const RawEvent& b) {
                     return a.start_ns < b.start_ns;
                   });
  for (RawEvent& record : result->memory_records_)
    record.start_ns = record.end_ns =
        record.start_ns - raw_options.trace_start_ns;
  const Stopwatch watch(statistics.build_tree_ns);
  ParsedEvents parsed = parse_raw_events(raw, list_options, raw_options);
  statistics.device = parsed.statistics;
  result->events_ =
      EventList(std::move(parsed.events), std::move(list_options));
  statistics.list = result->events_.statistics();
  statistics.events = result->events_.size();
  return result;
}

Result<void> set_default_node_id(std::int64_t node) {
  if (node < 0)
    return Error{ErrorCode::kInvalidArgument,
                 "node id " + std::to_string(node) + " is negative"};
  default_node_id.store(node, std::memory_order_relaxed);
  return {};
}

}  // namespace weft
