// SPDX-License-Identifier: Apache-2.0

// Records on three threads until it is killed (tests/kill.sh).

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "weft/weft.h"

namespace {

void record_for_ever() {
  for (std::uint64_t round = 0;; ++round) {
    for (std::uint64_t i = 0; i < 1000; ++i) {
      WEFT_SPAN("round", {"number", round});
      WEFT_INSTANT("inside", {"i", i});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

int main() {
  if (!weft::init()) return 1;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(record_for_ever);
  for (std::thread& thread : threads) thread.join();
}
