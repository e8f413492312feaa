// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_RINGBUF_SINGLE_STEP_H_
#define WEFT_TESTS_RINGBUF_SINGLE_STEP_H_

// The processor raises SIGTRAP after each instruction while the trap flag is
// set, so a handler of SIGTRAP runs at every place where a handler can
// interrupt. It is not set inside the handler.

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define WEFT_TEST_CAN_SINGLE_STEP 1
#endif
#else
#define WEFT_TEST_CAN_SINGLE_STEP 1
#endif
#endif

#ifdef WEFT_TEST_CAN_SINGLE_STEP

#include <gtest/gtest.h>
#include <signal.h>

namespace weft::ringbuf {

// 0x100 is the trap flag. The red zone below the stack pointer is in use.
inline void set_trap_flag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "pushfq\n\t"
      "orq $0x100, (%%rsp)\n\t"
      "popfq\n\t"
      "lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}
inline void clear_trap_flag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "pushfq\n\t"
      "andq $~0x100, (%%rsp)\n\t"
      "popfq\n\t"
      "lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}

// Lets `handler` run at each instruction between set and clear.
class SingleStepTest : public testing::Test {
 protected:
  explicit SingleStepTest(void (*handler)(int)) : handler_(handler) {}

  void SetUp() override {
    struct sigaction action = {};
    sigemptyset(&action.sa_mask);
    action.sa_handler = [](int) { stepped_ = 1; };
    ASSERT_EQ(sigaction(SIGTRAP, &action, &before_), 0);
    stepped_ = 0;
    set_trap_flag();
    clear_trap_flag();
    if (stepped_ == 0) GTEST_SKIP() << "nothing is single-stepped here";
    action.sa_handler = handler_;
    ASSERT_EQ(sigaction(SIGTRAP, &action, nullptr), 0);
  }
  void TearDown() override { sigaction(SIGTRAP, &before_, nullptr); }

 private:
  static inline volatile sig_atomic_t stepped_ = 0;

  void (*handler_)(int);
  struct sigaction before_ = {};
};

}  // namespace weft::ringbuf

#endif  // WEFT_TEST_CAN_SINGLE_STEP

#endif  // WEFT_TESTS_RINGBUF_SINGLE_STEP_H_
