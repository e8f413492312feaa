// SPDX-License-Identifier: Apache-2.0
#include "cupti/collector.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cupti/callbacks.h"
#include "cupti/run_sinks.h"
#include "weft/clock.h"

namespace weft::cupti {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kRest{20};
constexpr milliseconds kBetweenFlushes{250};
constexpr milliseconds kBetweenClocks{100};
constexpr milliseconds kGrace{500};
constexpr int kClockTries = 8;
constexpr std::size_t kGrowBy = 16;

// Threads that are made while one lives get no signals: those are the
// program's.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Reads all that is full; `sink_for` says where the buffers of a run belong.
template <class SinkFor>
void read_buffers(RecordReader& reader, std::vector<DeviceActivity>& activities,
                  const SinkFor& sink_for) {
  BufferPool& pool = buffer_pool();
  BufferPool::Filled filled;
  while (pool.next(&filled)) {
    const std::shared_ptr<DeviceSink> sink = sink_for(filled.run);
    if (sink != nullptr && filled.sacrifice) {
      const std::uint64_t records =
          reader.count(filled.data, filled.valid_bytes);
      if (records != 0) sink->lost(records, "all buffers for CUPTI were full");
    } else if (sink != nullptr) {
      activities.clear();
      reader.read(filled.data, filled.valid_bytes, activities);
      sink->activities(activities.data(), activities.size());
    }
    // Only now: the names in the activities are read by the sink.
    pool.give_back(filled);
  }
}

}  // namespace

Collector::Collector(Plan plan)
    : plan_(std::move(plan)),
      reader_(plan_.libraries.cupti),
      strange_reported_(buffer_pool().strange()) {
  remember_run(plan_.run, plan_.sink);
  compare_clocks();
}

void Collector::start() {
  const NoSignals no_signals;
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "weft-cupti");
}

void Collector::join() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Collector::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++asked_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return done_ >= mine || stopping_; });
}

void Collector::run() {
  Clock::time_point next_flush = Clock::now() + kBetweenFlushes;
  Clock::time_point next_clock = Clock::now() + kBetweenClocks;
  BufferPool& pool = buffer_pool();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, kRest, [&] { return stopping_ || asked_ > done_; });
    if (stopping_) return;
    const std::uint64_t asked = asked_;
    lock.unlock();
    const Clock::time_point now = Clock::now();
    if (now >= next_clock) {
      compare_clocks();
      next_clock = now + kBetweenClocks;
    }
    if (asked > done_ || (now >= next_flush && pool.outstanding() != 0)) {
      round(0);
      next_flush = Clock::now() + kBetweenFlushes;
    } else {
      read_full_buffers();
    }
    if (pool.size() < plan_.most_buffers && pool.free() < pool.size() / 4)
      pool.grow(std::min(plan_.most_buffers, pool.size() + kGrowBy));
    lock.lock();
    done_ = asked;
    changed_.notify_all();
  }
}

void Collector::round(std::uint32_t flags) {
  const CuptiCalls& calls = plan_.libraries.cupti;
  if (!saw_fatal_error()) {
    (void)calls.flush(flags);
    std::size_t dropped = 0;
    if (calls.dropped(nullptr, 0, &dropped) == kSuccess && dropped != 0)
      plan_.sink->lost(dropped, "CUPTI dropped records");
  }
  read_full_buffers();
}

void Collector::read_full_buffers() {
  read_buffers(reader_, activities_, [&](std::uint32_t run) {
    return run == plan_.run ? plan_.sink : sink_of_run(run);
  });
  report_losses();
}

void Collector::report_losses() {
  const RecordReader::Counts& counts = reader_.counts();
  const auto report = [&](std::uint64_t now, std::uint64_t& before,
                          const char* reason) {
    if (now > before) plan_.sink->lost(now - before, reason);
    before = now;
  };
  report(counts.too_short, reported_.too_short,
         "records were shorter than those of any known CUPTI");
  report(counts.unreadable, reported_.unreadable,
         "rests of buffers could not be read");
  report(buffer_pool().strange(), strange_reported_,
         "CUPTI gave back buffers that it did not have");
}

// Of several tries the one with the narrowest bracket.
void Collector::compare_clocks() {
  if (saw_fatal_error()) return;
  DeviceClockPair best;
  bool found = false;
  for (int i = 0; i < kClockTries; ++i) {
    DeviceClockPair pair;
    pair.device = kAllDevices;
    pair.ticks_before = now_ticks();
    if (plan_.stamps_are_ours) {
      pair.device_time = host_timestamp();
    } else if (plan_.libraries.cupti.timestamp(&pair.device_time) != kSuccess) {
      continue;
    }
    pair.ticks_after = now_ticks();
    if (found && pair.ticks_after - pair.ticks_before >=
                     best.ticks_after - best.ticks_before)
      continue;
    best = pair;
    found = true;
  }
  if (found) plan_.sink->clock(best);
}

void Collector::take_the_rest() {
  compare_clocks();
  round(kFlushForced);
  BufferPool& pool = buffer_pool();
  const Clock::time_point end = Clock::now() + kGrace;
  while (pool.outstanding() != 0 && !saw_fatal_error() && Clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(1));
    read_full_buffers();
  }
  read_full_buffers();
  if (const std::size_t kept = pool.outstanding(); kept != 0) {
    plan_.sink->lost(kept, "buffers were still CUPTI's at the end");
  } else {
    forget_runs_before(plan_.run);
  }
}

void collect_late(const CuptiCalls& calls) {
  RecordReader reader(calls);
  std::vector<DeviceActivity> activities;
  read_buffers(reader, activities, sink_of_run);
}

}  // namespace weft::cupti
