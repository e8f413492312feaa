// SPDX-License-Identifier: Apache-2.0

// What sources may do to weft, and what becomes of what they say.

#include "weft/gpu/device_source.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gpu/scripted_device.h"
#include "runtime/collection.h"
#include "runtime/scale.h"
#include "weft/gpu/device_tap.h"
#include "weft/internal/definitions.h"

namespace weft {
namespace {

using test::Registration;
using test::ScriptedDevice;

constexpr DeviceFamily kFamily = DeviceFamily::kCustom;

ErrorCode code_of(const Result<void>& result) {
  return result.ok() ? ErrorCode{} : result.error().code;
}

std::uint64_t placed(const DeviceAccounts& accounts) {
  return accounts.kept + accounts.dropped + accounts.late +
         accounts.unknown_kind + accounts.unknown_device;
}

DeviceTap open_tap(const DeviceConfig& config = {}) {
  Result<DeviceTap> tap = DeviceTap::open(kFamily, config);
  EXPECT_TRUE(tap.ok()) << (tap.ok() ? "" : tap.error().message);
  return std::move(tap).value();
}

TEST(DeviceRegistry, ANameIsShortAndPlainAndNoOtherDevicesWord) {
  const auto device = std::make_shared<ScriptedDevice>();
  for (const char* name : {"", "NPU", "n p", "cuda", "cpu", "privateuseone",
                           "a-name-of-more-than-32-characters"})
    EXPECT_EQ(code_of(register_device_source(kFamily, name, device)),
              ErrorCode::kInvalidArgument)
        << name;
  EXPECT_EQ(code_of(register_device_source(kFamily, "npu", nullptr)),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(register_device_source(static_cast<DeviceFamily>(4), "npu",
                                           device)),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(device_source(kFamily).error().code, ErrorCode::kUnavailable);
}

TEST(DeviceRegistry, AFamilyHasOneSource) {
  const auto device = std::make_shared<ScriptedDevice>();
  {
    const Registration first(kFamily, "npu", device);
    EXPECT_TRUE(first.result().ok());
    const Result<void> second = register_device_source(kFamily, "tpu", device);
    ASSERT_EQ(code_of(second), ErrorCode::kBusy);
    EXPECT_NE(second.error().message.find("npu"), std::string::npos);
    EXPECT_EQ(device_source(kFamily)->name, "npu");
  }
  EXPECT_FALSE(unregister_device_source(kFamily));
}

TEST(DeviceRegistry, AProbeThatThrowsIsADeviceThatIsNotThere) {
  class Throws final : public DeviceSource {
    DeviceAbilities probe() override { throw 7; }
    Result<void> start(const DeviceConfig&,
                       std::shared_ptr<DeviceSink>) override {
      return {};
    }
    void flush() override {}
    void stop() override {}
  };
  const Registration registered(kFamily, "npu", std::make_shared<Throws>());
  const DeviceAbilities abilities = probe_device_source(kFamily);
  EXPECT_EQ(abilities.devices, 0u);
  EXPECT_NE(abilities.reason.find("probe()"), std::string::npos);
  EXPECT_EQ(DeviceTap::open(kFamily, {}).error().code, ErrorCode::kUnavailable);
}

TEST(DeviceTap, IsRefusedWithTheReason) {
  const auto device = std::make_shared<ScriptedDevice>();
  device->abilities = {.devices = 0, .reason = "no driver"};
  const Registration registered(kFamily, "npu", device);
  const Result<DeviceTap> tap = DeviceTap::open(kFamily, {});
  ASSERT_FALSE(tap.ok());
  EXPECT_NE(tap.error().message.find("no driver"), std::string::npos);
  EXPECT_EQ(device->starts, 0);
}

// Whatever a source claims is in one place of the accounts.
TEST(DeviceTap, WhatCannotBeRightIsCountedNotTrusted) {
  const test::Collection with_names;
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(kFamily, "npu", device);
  DeviceTap tap = open_tap();
  const std::shared_ptr<DeviceSink> sink = device->sink_now();
  DeviceActivity good;
  good.text = "matmul";
  good.start = 20;
  good.end = 30;
  DeviceActivity reversed = good;
  reversed.end = 10;
  DeviceActivity no_kind = good;
  no_kind.kind = static_cast<ActivityKind>(99);
  DeviceActivity no_device = good;
  no_device.device = 2;
  const DeviceActivity all[] = {good, reversed, no_kind, no_device};
  sink->activities(all, 4);
  sink->clock({2, 5, 1, 1});  // no such device
  sink->clock({0, 5, 2, 1});  // the host's clock went back
  sink->lost(3, "buffer full");
  sink->lost(2, "buffer full");
  const DeviceRecords records = tap.close();
  ASSERT_EQ(records.activities.size(), 2u);
  EXPECT_EQ(internal::text_of(records.activities[0].name), "matmul");
  EXPECT_EQ(records.activities[1].start, 20u);
  EXPECT_EQ(records.activities[1].end, 20u);
  EXPECT_EQ(records.accounts.delivered, 4u);
  EXPECT_EQ(records.accounts.reversed, 1u);
  EXPECT_EQ(records.accounts.unknown_kind, 1u);
  EXPECT_EQ(records.accounts.unknown_device, 1u);
  EXPECT_EQ(records.accounts.clock_pairs_dropped, 2u);
  EXPECT_EQ(records.accounts.lost, 5u);
  EXPECT_EQ(records.lost.at("buffer full"), 5u);
  EXPECT_EQ(placed(records.accounts), 4u);
}

TEST(DeviceTap, MemoryIsBoundedAndWhatFindsNoneIsCounted) {
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(kFamily, "npu", device);
  DeviceTap tap = open_tap({.memory_bytes = 8192});
  const std::shared_ptr<DeviceSink> sink = device->sink_now();
  const std::vector<DeviceActivity> batch(10);
  for (int i = 0; i < 100; ++i) sink->activities(batch.data(), batch.size());
  const DeviceRecords records = tap.close();
  EXPECT_EQ(records.accounts.delivered, 1000u);
  EXPECT_GT(records.accounts.kept, 0u);
  EXPECT_LE(records.accounts.kept * sizeof(DeviceActivity), 8192u);
  EXPECT_EQ(placed(records.accounts), 1000u);
  // What was fetched is room for the next interval.
  DeviceTap next = open_tap({.memory_bytes = 8192});
  device->sink_now()->activities(batch.data(), batch.size());
  EXPECT_EQ(next.close().accounts.kept, 10u);
}

// An interval that looks on must not pay for what others have fetched.
TEST(DeviceTap, MemoryOfWhatWasFetchedIsFreeAgain) {
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(kFamily, "npu", device);
  const std::size_t room = 100 * sizeof(DeviceActivity);
  const std::vector<DeviceActivity> batch(60);
  DeviceTap first = open_tap({.memory_bytes = room + 1024});
  device->sink_now()->activities(batch.data(), batch.size());
  DeviceTap second = open_tap({.memory_bytes = room + 1024});
  EXPECT_EQ(first.close().accounts.kept, 60u);
  device->sink_now()->activities(batch.data(), batch.size());
  EXPECT_EQ(second.close().accounts.kept, 60u);
}

TEST(DeviceTap, WhatComesAfterTheStopIsLate) {
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(kFamily, "npu", device);
  DeviceTap tap = open_tap();
  const std::shared_ptr<DeviceSink> old = device->sink_now();
  (void)tap.close();
  const DeviceActivity activity;
  old->activities(&activity, 1);
  EXPECT_EQ(device_accounts(kFamily).late, 1u);
  // Nor does it get into the next interval.
  DeviceTap next = open_tap();
  old->activities(&activity, 1);
  const DeviceRecords records = next.close();
  EXPECT_TRUE(records.activities.empty());
  EXPECT_EQ(records.accounts.late, 1u);
}

TEST(DeviceTap, IntervalsShareOneRunOfTheSource) {
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(kFamily, "npu", device);
  DeviceTap first = open_tap();
  const std::shared_ptr<DeviceSink> sink = device->sink_now();
  DeviceActivity activity;
  activity.correlation = 1;
  sink->activities(&activity, 1);
  DeviceTap second = open_tap();
  activity.correlation = 2;
  sink->activities(&activity, 1);
  EXPECT_EQ(device->starts, 1);
  const DeviceRecords of_first = first.close();
  EXPECT_EQ(device->stops, 0);
  activity.correlation = 3;
  sink->activities(&activity, 1);
  const DeviceRecords of_second = second.close();
  EXPECT_EQ(device->stops, 1);
  const auto numbers = [](const DeviceRecords& records) {
    std::vector<std::uint64_t> all;
    for (const DeviceActivity& each : records.activities)
      all.push_back(each.correlation);
    return all;
  };
  EXPECT_EQ(numbers(of_first), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(numbers(of_second), (std::vector<std::uint64_t>{2, 3}));
  // The second needs the clock from before it began.
  EXPECT_GE(of_second.clock_pairs.size(), 2u);
}

TEST(DeviceTap, ASourceThatThrowsIsStoppedAllTheSame) {
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(kFamily, "npu", device);
  device->start_throws = "out of contexts";
  const Result<DeviceTap> refused = DeviceTap::open(kFamily, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("out of contexts"), std::string::npos);
  device->start_throws.clear();
  DeviceTap tap = open_tap();
  device->flush_throws = "device lost";
  const DeviceRecords records = tap.close();
  EXPECT_EQ(records.accounts.failures, 1u);
  ASSERT_EQ(records.failures.size(), 1u);
  EXPECT_NE(records.failures[0].find("device lost"), std::string::npos);
  EXPECT_EQ(device->stops, 1);
}

// It would wait for itself for ever.
TEST(DeviceTap, ASourceCannotOpenItselfWhileItIsCalled) {
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(kFamily, "npu", device);
  ErrorCode inner{};
  device->at_stop = [&](DeviceSink&) {
    inner = DeviceTap::open(kFamily, {}).error().code;
  };
  DeviceTap tap = open_tap();
  (void)tap.close();
  EXPECT_EQ(inner, ErrorCode::kBusy);
}

// The vendor's threads go on while intervals come and go: each activity is kept
// by some interval, or late, or counted as dropped.
TEST(DeviceTap, ConcurrentHandOversAreAllAccountedFor) {
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(kFamily, "npu", device);
  std::atomic<bool> quit{false};
  std::atomic<std::uint64_t> handed_over{0};
  std::vector<std::thread> vendor;
  // Long batches: most of the time some call is half way.
  for (int i = 0; i < 3; ++i)
    vendor.emplace_back([&] {
      const std::vector<DeviceActivity> batch(300);
      while (!quit) {
        const std::shared_ptr<DeviceSink> sink = device->sink_now();
        if (sink == nullptr) continue;
        sink->activities(batch.data(), batch.size());
        handed_over += batch.size();
      }
    });
  std::uint64_t kept = 0;
  for (unsigned i = 0; i < test::scaled(400) + 20; ++i) {
    DeviceTap tap = open_tap({.memory_bytes = 1 << 20});
    kept += tap.close().activities.size();
  }
  quit = true;
  for (std::thread& thread : vendor) thread.join();
  const DeviceAccounts accounts = device_accounts(kFamily);
  EXPECT_EQ(accounts.delivered, handed_over);
  EXPECT_EQ(accounts.kept, kept);
  EXPECT_EQ(placed(accounts), accounts.delivered);
}

}  // namespace
}  // namespace weft
