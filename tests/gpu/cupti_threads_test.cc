// SPDX-License-Identifier: Apache-2.0

// Sessions that come and go while the program calls CUDA.

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "cupti/callbacks.h"
#include "gpu/cupti_machine.h"
#include "runtime/collection.h"
#include "runtime/scale.h"
#include "weft/gpu/device_tap.h"

namespace weft {
namespace {

constexpr DeviceFamily kCuda = DeviceFamily::kCuda;

// The stand-in aborts when CUPTI is called from a callback, hangs when weft
// locks in one what it holds around a call, and never asks for cuptiFinalize.
TEST(CuptiThreads, K3_04_ThousandSessionsFromTwoThreadsWhileFourCallCuda) {
  test::CuptiMachine machine;
  const test::Collection recording(test::Collection::Keep::kCounts);
  std::atomic<bool> over{false};
  std::latch calling(4);
  std::vector<std::thread> program;
  program.reserve(4);
  for (int i = 0; i < 4; ++i)
    program.emplace_back([&] {
      bool first = true;
      while (!over.load(std::memory_order_relaxed)) {
        machine.library.launch();
        if (first) calling.count_down();
        first = false;
        std::this_thread::yield();
      }
    });
  calling.wait();
  // In the first half intervals do not overlap, so that each starts CUPTI and
  // stops it; in the second they do as they come.
  std::mutex one_at_a_time;
  std::latch second_half(2);
  const unsigned pairs = test::kSlowdown > 1 ? 100 : 1000;
  test::run_threads(2, [&](unsigned) {
    for (unsigned i = 0; i < pairs; ++i) {
      if (i == pairs / 2) second_half.arrive_and_wait();
      std::unique_lock<std::mutex> alone(one_at_a_time, std::defer_lock);
      if (i < pairs / 2) alone.lock();
      Result<DeviceTap> tap = DeviceTap::open(kCuda, {});
      if (!tap.ok()) {
        ADD_FAILURE() << tap.error().message;
        continue;
      }
      const DeviceRecords records = tap->close();
      const DeviceAccounts& accounts = records.accounts;
      EXPECT_EQ(accounts.delivered, accounts.kept + accounts.dropped +
                                        accounts.late + accounts.unknown_kind +
                                        accounts.unknown_device);
    }
  });
  EXPECT_GE(machine.library.calls_of("cuptiSubscribe"), pairs);
  EXPECT_FALSE(machine.library.subscribed());
  EXPECT_EQ(machine.library.callbacks_on(), 0u);
  EXPECT_EQ(machine.library.kinds_on(), 0u);
  over = true;
  for (std::thread& thread : program) thread.join();
  EXPECT_EQ(cupti::buffer_pool().outstanding(), 0u);
  EXPECT_EQ(cupti::buffer_pool().strange(), 0u);
}

// Each buffer has one owner at a time, whoever asks and whoever gives back.
TEST(CuptiThreads, ABufferIsHandedOutOnceAndComesBackOnce) {
  cupti::BufferPool pool;
  ASSERT_TRUE(pool.grow(6));
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> read{0};
  const unsigned rounds = test::scaled(40'000);
  std::thread reader([&] {
    cupti::BufferPool::Filled filled;
    for (bool last = false;;) {
      while (pool.next(&filled)) {
        EXPECT_EQ(filled.data[0], filled.data[filled.valid_bytes - 1]);
        ++read;
        pool.give_back(filled);
      }
      if (last) return;
      last = over.load(std::memory_order_acquire);
      std::this_thread::yield();
    }
  });
  std::atomic<std::uint64_t> written{0};
  test::run_threads(4, [&](unsigned thread) {
    for (unsigned i = 0; i < rounds; ++i) {
      std::uint8_t* const buffer = pool.hand_out(true);
      if (buffer == nullptr) {
        std::this_thread::yield();
        continue;
      }
      // Cleared, and nobody else's.
      EXPECT_EQ(buffer[0], 0);
      EXPECT_EQ(buffer[99], 0);
      buffer[0] = buffer[99] = static_cast<std::uint8_t>(thread + 1);
      ++written;
      pool.take_back(buffer, 100);
    }
  });
  over.store(true, std::memory_order_release);
  reader.join();
  EXPECT_EQ(read, written);
  EXPECT_EQ(pool.free(), 6u);
  EXPECT_EQ(pool.outstanding(), 0u);
  std::uint8_t other = 0;
  pool.take_back(&other, 1);
  EXPECT_EQ(pool.strange(), 1u);
}

}  // namespace
}  // namespace weft
