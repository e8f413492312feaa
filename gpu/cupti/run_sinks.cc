// SPDX-License-Identifier: Apache-2.0
#include "cupti/run_sinks.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace weft::cupti {
namespace {

constexpr std::size_t kMostRuns = 64;

struct Sinks {
  std::mutex mutex;
  std::map<std::uint32_t, std::shared_ptr<DeviceSink>> of_run;
};

Sinks& sinks() {
  static Sinks& all = *new Sinks;
  return all;
}

}  // namespace

void remember_run(std::uint32_t run, std::shared_ptr<DeviceSink> sink) {
  Sinks& all = sinks();
  const std::scoped_lock lock(all.mutex);
  if (all.of_run.size() >= kMostRuns) all.of_run.erase(all.of_run.begin());
  all.of_run[run] = std::move(sink);
}

std::shared_ptr<DeviceSink> sink_of_run(std::uint32_t run) {
  Sinks& all = sinks();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.of_run.find(run);
  return found == all.of_run.end() ? nullptr : found->second;
}

void forget_runs_before(std::uint32_t run) {
  Sinks& all = sinks();
  const std::scoped_lock lock(all.mutex);
  all.of_run.erase(all.of_run.begin(), all.of_run.lower_bound(run));
}

}  // namespace weft::cupti
