// SPDX-License-Identifier: Apache-2.0
//
// For pass_cost_test.py, under callgrind: after ENDED threads have recorded and
// ended, and while LIVE others that have recorded sleep, counts what idle passes
// of the drainer execute.
//
// usage: pass_cost ENDED LIVE
// Prints how many passes those were.

#include <valgrind/callgrind.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <vector>

#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace {

std::uint64_t wait_for_passes(std::uint64_t count) {
  const std::uint64_t before = weft::status().drain_passes;
  std::uint64_t passes = 0;
  while ((passes = weft::status().drain_passes - before) < count)
    std::this_thread::yield();
  return passes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || !weft::init(weft::InitOptions()).ok()) return 1;
  const int ended = std::atoi(argv[1]);
  const int live = std::atoi(argv[2]);
  { WEFT_SPAN("main"); }
  for (int i = 0; i < ended; ++i) {
    std::thread([] { WEFT_SPAN("short"); }).join();
  }
  std::promise<void> over;
  const std::shared_future<void> is_over = over.get_future().share();
  std::vector<std::thread> sleepers;
  for (int i = 0; i < live; ++i) {
    std::promise<void> recorded;
    sleepers.emplace_back([&recorded, is_over] {
      { WEFT_SPAN("once"); }
      recorded.set_value();
      is_over.wait();
    });
    recorded.get_future().wait();
  }
  wait_for_passes(3);

  CALLGRIND_DUMP_STATS;  // which begins to count anew, for all threads
  const std::uint64_t passes = wait_for_passes(300);
  CALLGRIND_DUMP_STATS;
  std::printf("%llu\n", static_cast<unsigned long long>(passes));
  over.set_value();
  for (std::thread& sleeper : sleepers) sleeper.join();
  return 0;
}
