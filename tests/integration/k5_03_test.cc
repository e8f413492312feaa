// SPDX-License-Identifier: Apache-2.0
//
// Nobody takes the data: memory stays bounded, losses are counted, and new
// records get through when somebody reads again.

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "integration/blocked_sink.h"
#include "weft/session.h"
#include "weft/status.h"

namespace weft::test {
namespace {

using K5_03 = BlockedSink;

TEST_F(K5_03, AFifoThatNobodyReadsCostsBoundedMemory) {
  record_without_reader([] { return refused() > 2'000'000; });
}

TEST_F(K5_03, AShutdownWhoseSinkHangsSaysSoInTime) {
  const std::string fifo = path("trace.weft");
  const int reader = make_fifo(fifo);
  ASSERT_TRUE(init(options_for(fifo)).ok());
  record_until([&] { return status().total_dropped() > 100'000; });
  const Result<void> ended = shutdown(std::chrono::milliseconds(100));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::kTimeout);
  close(reader);
}

// /dev/full refuses every write.
TEST_F(K5_03, ASinkThatFailsIsToldAndCostsBoundedMemory) {
  const std::string link = path("full.weft");
  ASSERT_EQ(symlink("/dev/full", link.c_str()), 0);
  const long before = resident_kib();
  const Result<void> begun = init(options_for(link));
  if (!begun.ok()) {
    EXPECT_EQ(begun.error().code, ErrorCode::kIo);
    return;
  }
  const std::uint64_t calls = record_until([] {
    expect_accounts_within_bounds();
    return !status().output_error.empty();
  });
  expect_resident_below(before,
                        (kRingBytes + kBlockBytes + (16u << 20)) / 1024);
  ASSERT_TRUE(stop().ok());
  const RuntimeStatus now = status();
  EXPECT_EQ(calls, now.delivered + now.total_dropped());
  shutdown();
}

}  // namespace
}  // namespace weft::test
