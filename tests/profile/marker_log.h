// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_PROFILE_MARKER_LOG_H_
#define WEFT_TESTS_PROFILE_MARKER_LOG_H_

// What the two recording tools of the tests were told, in one order.

#include <unistd.h>

#include <mutex>
#include <string>
#include <vector>

namespace weft::test {

struct MarkerCall {
  pid_t thread;
  bool begins;
  std::string label;  // of begins
};

// Offered by both tools under the name "weft_test_marker_log".
struct MarkerLog {
  std::mutex mutex;
  std::vector<MarkerCall> calls;

  void add(bool begins, const char* label) {
    const std::scoped_lock lock(mutex);
    calls.push_back({gettid(), begins, label});
  }
};

}  // namespace weft::test

#endif  // WEFT_TESTS_PROFILE_MARKER_LOG_H_
