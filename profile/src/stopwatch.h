// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_STOPWATCH_H_
#define WEFT_PROFILE_SRC_STOPWATCH_H_

#include <chrono>
#include <cstdint>

namespace weft::profile {

// Adds the time from its construction to its end.
class Stopwatch {
 public:
  explicit Stopwatch(std::int64_t& total_ns)
      : total_ns_(total_ns), begun_(std::chrono::steady_clock::now()) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    total_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(
                     std::chrono::steady_clock::now() - begun_)
                     .count();
  }

 private:
  std::int64_t& total_ns_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_STOPWATCH_H_
