// SPDX-License-Identifier: Apache-2.0
//
// A minute of what k5_03_test.cc does with a number of records: what grows with
// time shows here.

#include <gtest/gtest.h>

#include <chrono>

#include "integration/blocked_sink.h"

namespace weft::test {
namespace {

using K5_03 = BlockedSink;

TEST_F(K5_03, AMinuteWithoutAReaderCostsBoundedMemory) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  record_without_reader([&] {
    return refused() > 0 && std::chrono::steady_clock::now() >= end;
  });
}

}  // namespace
}  // namespace weft::test
