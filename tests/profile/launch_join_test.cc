// SPDX-License-Identifier: Apache-2.0

// Joining launches with what devices report, on synthetic records.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "device_rows.h"
#include "runtime/scale.h"
#include "weft/clock_line.h"
#include "weft/gpu/launch_word.h"

namespace weft::profile {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Ticks are ns.
ClockLine line_of_ns(std::int64_t end) {
  ClockLine line;
  for (const std::int64_t ns : {std::int64_t{1}, end}) {
    ClockAnchor anchor;
    anchor.tick.fill(static_cast<Ticks>(ns));
    anchor.ns.fill(ns);
    anchor.half_width.fill(0);
    line.add(anchor);
  }
  return line;
}

// What a million launches came to. Correlations are 32 bits wide and wrap on
// the way; every hundredth launch has no work and every hundredth kernel no
// launch; every thousandth launch is of a graph with three nodes.
class Records {
 public:
  static constexpr std::uint32_t kNodes = 3;
  explicit Records(std::uint32_t count) {
    const std::uint32_t first = 0xffffffffu - count / 2;
    for (std::uint32_t i = 0; i < count; ++i) {
      Launch launch;
      launch.correlation = first + i == 0 ? 1 : std::uint32_t{first + i};
      launch.call = launch_word(DeviceFamily::kCuda, 0x200d3);
      launch.ns = 1000 + std::int64_t{i} * 1000;
      launch.thread = i % 2 + 1;
      launch.op = i + 1;
      if (first + i == 0) continue;  // CUPTI skips the number
      const bool known = i % 100 != 7;
      if (known) launches.push_back(launch);
      if (i % 100 == 3) {
        ++without_work;
        continue;
      }
      const std::uint32_t nodes = i % 1000 == 500 ? kNodes : 1;
      for (std::uint32_t node = 0; node < nodes; ++node) {
        DeviceActivity activity;
        activity.device = i % 3;
        activity.stream = i % 5;
        activity.correlation = launch.correlation;
        activity.start = static_cast<std::uint64_t>(launch.ns) + 100 + node;
        activity.end = activity.start + 500;
        activity.graph_node = node;
        window.records.activities.push_back(activity);
        if (!known) ++without_launch;
      }
    }
    window.from = 1;
    window.to = window.over = static_cast<Ticks>(count + 10) * 1000;
    window.records.abilities.clock = DeviceClock::kHostTicks;
    window.records.accounts.delivered = window.records.activities.size();
  }

  std::vector<Launch> launches;
  DeviceWindow window;
  std::uint64_t without_work = 0;
  std::uint64_t without_launch = 0;
};

std::uint64_t digest(const std::vector<RawEvent>& rows) {
  std::uint64_t sum = 1469598103934665603u;
  const auto add = [&](std::int64_t value) {
    sum = (sum ^ static_cast<std::uint64_t>(value)) * 1099511628211u;
  };
  for (const RawEvent& row : rows) {
    add(row.start_ns);
    add(row.end_ns);
    add(row.id);
    add(row.linked_op);
    add(row.device_index);
    add(row.stream);
  }
  return sum;
}

TEST(LaunchJoin, AMillionLaunchesJoinTheSameInAnyOrder) {
  Records records(test::scaled(1'000'000));
  const ClockLine line =
      line_of_ns(static_cast<std::int64_t>(records.window.over));
  std::uint64_t first = 0;
  for (std::uint32_t shuffle = 0; shuffle <= 10; ++shuffle) {
    if (shuffle != 0)
      std::shuffle(records.window.records.activities.begin(),
                   records.window.records.activities.end(),
                   std::mt19937(shuffle));
    DeviceRows rows(records.launches, {}, {});
    rows.add(records.window, line);
    DeviceStatistics statistics;
    const std::vector<RawEvent> made = rows.take(&statistics);
    ASSERT_EQ(made.size(), records.window.records.activities.size());
    const auto linked = static_cast<std::uint64_t>(
        std::count_if(made.begin(), made.end(),
                      [](const RawEvent& row) { return row.linked_op != 0; }));
    EXPECT_EQ(made.size() - linked, records.without_launch);
    EXPECT_EQ(statistics.launches, records.launches.size());
    EXPECT_EQ(statistics.launches_without_work, records.without_work);
    EXPECT_EQ(statistics.repeated_launches, 0u);
    if (shuffle == 0) first = digest(made);
    EXPECT_EQ(digest(made), first) << shuffle;
  }
  for (const DeviceActivity& activity : records.window.records.activities)
    ASSERT_NE(activity.correlation, 0u);
}

// A program that launches under one number for ever must not make joining slow.
TEST(LaunchJoin, ANumberUsedEveryTimeIsJoinedByTime) {
  std::vector<Launch> launches;
  DeviceWindow window;
  window.records.abilities.clock = DeviceClock::kHostTicks;
  window.from = 1;
  const std::uint32_t count = test::scaled(200'000);
  for (std::uint32_t i = 0; i < count; ++i) {
    Launch launch;
    launch.correlation = 5;
    launch.call = launch_word(DeviceFamily::kCuda, 0);
    launch.ns = 1000 + std::int64_t{i} * 100;
    launch.op = i + 1;
    launches.push_back(launch);
    DeviceActivity activity;
    activity.correlation = 5;
    activity.start = static_cast<std::uint64_t>(launch.ns) + 10;
    activity.end = activity.start + 10;
    window.records.activities.push_back(activity);
  }
  window.to = window.over = static_cast<Ticks>(count + 100) * 100;
  DeviceRows rows(launches, {}, {});
  rows.add(window, line_of_ns(static_cast<std::int64_t>(window.over)));
  DeviceStatistics statistics;
  const std::vector<RawEvent> made = rows.take(&statistics);
  ASSERT_EQ(made.size(), count);
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(made[i].linked_op, i + 1);
  EXPECT_EQ(statistics.repeated_launches, count - 1);
  EXPECT_EQ(statistics.launches_without_work, 0u);
}

TEST(LaunchJoin, NumbersOfTwoFamiliesAreTwoLaunches) {
  std::vector<Launch> launches(2);
  launches[0].correlation = launches[1].correlation = 9;
  launches[0].call = launch_word(DeviceFamily::kCuda, 1);
  launches[1].call = launch_word(DeviceFamily::kXpu, 1);
  launches[0].ns = launches[1].ns = 50;
  LaunchIndex index(launches);
  const auto bits = [](DeviceFamily family) {
    return launch_word(family, 0) >> 24;
  };
  EXPECT_EQ(index.find(bits(DeviceFamily::kCuda), 9, 60)->launch, &launches[0]);
  EXPECT_EQ(index.find(bits(DeviceFamily::kXpu), 9, 60)->launch, &launches[1]);
  EXPECT_EQ(index.find(bits(DeviceFamily::kMtia), 9, 60), nullptr);
  EXPECT_EQ(index.find(bits(DeviceFamily::kCuda), 8, 60), nullptr);
}

// (a): a device's clock that runs 50 ppm fast, compared every second.
TEST(DeviceTimes, K1_06_ADriftingClockIsFollowedToAMicrosecond) {
  const std::int64_t minutes10 = 600 * kSecond;
  const ClockLine host = line_of_ns(minutes10);
  const auto device_time = [](std::int64_t ns) {
    return static_cast<std::uint64_t>(ns + ns / 20'000) + 1'700'000'000u;
  };
  DeviceRecords records;
  records.abilities.clock = DeviceClock::kOwn;
  for (std::int64_t ns = kSecond; ns <= minutes10; ns += kSecond) {
    const auto tick = static_cast<Ticks>(ns);
    records.clock_pairs.push_back(
        {kAllDevices, device_time(ns), tick - 50, tick + 50});
  }
  const DeviceTimes times(records, host);
  std::int64_t worst = 0;
  for (std::int64_t ns = kSecond; ns < minutes10; ns += 99'999'989) {
    const auto found = times.to_ns(3, device_time(ns));
    ASSERT_TRUE(found);
    worst = std::max(worst, std::abs(*found - ns));
  }
  EXPECT_LT(worst, 1000);
  EXPECT_EQ(times.bad_pairs(), 0u);
}

}  // namespace
}  // namespace weft::profile
