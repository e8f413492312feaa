// SPDX-License-Identifier: Apache-2.0

// Whose CUPTI's buffers are, how many there are, and what becomes of those that
// come back late or never.

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>

#include "cupti/callbacks.h"
#include "gpu/cupti_machine.h"
#include "gpu/open_cuda_tap.h"
#include "runtime/collection.h"

namespace weft {
namespace {

using test::CuptiMachine;
using test::open_tap;

// The burst of K3-03: buffers come from the pool that was there before, and
// when that is empty the program goes on without.
TEST(CuptiBuffers, K3_03_ABurstOfRequestsMeetsTheBoundAndIsCounted) {
  const test::Collection with_names;
  CuptiMachine machine;
  DeviceTap tap = open_tap({.memory_bytes = 16u << 20});
  const cupti::BufferPool& pool = cupti::buffer_pool();
  std::atomic<std::size_t> got{0};
  test::run_threads(
      4, [&](unsigned) { got += machine.library.take_buffers(2500); });
  EXPECT_LE(got, cupti::BufferPool::kMostBuffers);
  EXPECT_EQ(got, machine.library.kept());
  EXPECT_EQ(machine.library.null_buffers, 10'000 - got);
  EXPECT_LE(pool.size(), cupti::BufferPool::kMostBuffers);
  // With all buffers out records find none; CUPTI counts them, and weft asks.
  while (machine.library.take_buffers(1) != 0) {
  }
  machine.library.launch();
  machine.library.release_kept(3);
  DeviceRecords records = tap.close();
  EXPECT_EQ(records.accounts.kept + records.lost["CUPTI dropped records"], 1u);
  EXPECT_EQ(records.lost.at("buffers were still CUPTI's at the end"), 3u);
  EXPECT_EQ(pool.outstanding(), 3u) << "never freed, never handed out again";
  machine.library.release_kept();
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(CuptiBuffers, K3_03_WhatIsGivenBackAfterTheStopIsLateAndInNoSession) {
  const test::Collection with_names;
  CuptiMachine machine;
  machine.library.keep = 2;
  DeviceTap tap = open_tap();
  machine.library.launch();
  DeviceRecords records = tap.close();
  EXPECT_EQ(records.accounts.kept, 0u);
  EXPECT_EQ(records.lost.at("buffers were still CUPTI's at the end"), 1u);
  machine.library.keep = 0;
  DeviceTap next = open_tap();
  machine.library.release_kept();
  machine.library.launch();
  records = next.close();
  EXPECT_EQ(records.accounts.kept, 1u) << "its own";
  EXPECT_EQ(records.accounts.late, 1u);
}

TEST(CuptiBuffers, K3_03_AnOldCuptiIsNeverToldThatThereIsNoBuffer) {
  const test::Collection with_names;
  CuptiMachine machine;
  machine.library.version = 26;
  machine.library.null_crashes = true;
  DeviceTap tap = open_tap();
  while (machine.library.kept() < cupti::buffer_pool().size()) {
    if (machine.library.take_buffers(1) == 0) break;
  }
  for (int i = 0; i < 10; ++i) machine.library.launch();
  machine.library.release_kept();
  DeviceRecords records = tap.close();
  EXPECT_EQ(
      records.accounts.kept + records.lost["all buffers for CUPTI were full"],
      10u);
}

}  // namespace
}  // namespace weft
