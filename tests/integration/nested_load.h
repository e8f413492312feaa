// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_INTEGRATION_NESTED_LOAD_H_
#define WEFT_TESTS_INTEGRATION_NESTED_LOAD_H_

#include <atomic>
#include <thread>
#include <vector>

#include "weft/span.h"

namespace weft::test {

// Four threads that run nested spans, as many rounds as they are given.
class NestedLoad {
 public:
  NestedLoad() {
    for (std::atomic<unsigned>& done : done_)
      threads_.emplace_back([this, &done] { run(done); });
  }
  ~NestedLoad() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  // Each thread may run `rounds` more; returns when the slowest has at most
  // `left` of all to run, so that they are in the middle of it, or not, if 0.
  void advance(unsigned rounds, unsigned left) {
    given_ += rounds;
    for (const std::atomic<unsigned>& done : done_)
      while (done + left < given_) std::this_thread::yield();
  }

  static constexpr unsigned kSpansInRound = 5;

 private:
  static void round() {
    WEFT_SPAN_CAT("net", "request");
    {
      WEFT_SPAN_CAT("db", "query");
      WEFT_SPAN_CAT("net", "send", {"bytes", 17});
      WEFT_SPAN_CAT("db", "deep");
    }
    WEFT_SPAN_CAT("db", "commit");
  }

  void run(std::atomic<unsigned>& done) {
    while (!over_) {
      if (done == given_) {
        std::this_thread::yield();
        continue;
      }
      round();
      ++done;
    }
  }

  std::atomic<unsigned> given_{0};
  std::atomic<unsigned> done_[4] = {};
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

}  // namespace weft::test

#endif  // WEFT_TESTS_INTEGRATION_NESTED_LOAD_H_
