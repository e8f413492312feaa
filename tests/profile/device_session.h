// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_PROFILE_DEVICE_SESSION_H_
#define WEFT_TESTS_PROFILE_DEVICE_SESSION_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "gpu/scripted_device.h"
#include "weft/profile/profiler.h"

namespace weft::test {

inline std::string why(const Result<void>& result) {
  return result.ok() ? "" : result.error().message;
}

// A session around `body`, and what it made of it.
template <class Body>
std::shared_ptr<const ProfilerResult> profiled(const ProfilerOptions& options,
                                               const Body& body) {
  Profiler profiler(options);
  const Result<void> started = profiler.start();
  EXPECT_TRUE(started.ok()) << why(started);
  if (!started.ok()) return std::make_shared<ProfilerResult>();
  body();
  const Result<void> stopped = profiler.stop();
  EXPECT_TRUE(stopped.ok()) << why(stopped);
  auto result = profiler.result();
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? *result : std::make_shared<ProfilerResult>();
}

inline const FunctionEvent* find_row(const EventList& list,
                                     const std::string& name) {
  for (const FunctionEvent& event : list)
    if (event.name == name) return &event;
  return nullptr;
}

inline std::uint64_t placed(const DeviceStatistics& s) {
  return s.rows + s.overheads + s.dropped + s.late + s.malformed +
         s.without_clock + s.without_time + s.absurd + s.outside_coverage +
         s.outside_window + s.not_wanted;
}

// That many ticks in ns, to the accuracy of two clocks drawn as lines.
inline void expect_lasts(std::int64_t ns, std::uint64_t ticks) {
  const Ticks now = now_ticks();
  const std::int64_t wanted = ticks_to_ns(now + ticks) - ticks_to_ns(now);
  const double slack = 100 + 0.05 * static_cast<double>(wanted);
  EXPECT_NEAR(static_cast<double>(ns), static_cast<double>(wanted), slack);
}

}  // namespace weft::test

#endif  // WEFT_TESTS_PROFILE_DEVICE_SESSION_H_
