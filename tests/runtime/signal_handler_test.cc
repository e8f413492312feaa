// SPDX-License-Identifier: Apache-2.0
//
// K2-08: a signal handler that records, at every instruction of a record of the
// thread that it interrupts. The processor raises SIGTRAP after each
// instruction while the trap flag is set.

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>

#include "runtime.h"
#include "runtime/collection.h"
#include "runtime/scale.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

std::atomic<std::uint64_t> handler_calls{0};

void record_in_handler(int) {
  const std::uint64_t value =
      handler_calls.fetch_add(1, std::memory_order_relaxed);
  WEFT_INSTANT("in the handler", {"one", value}, {"same", value});
}

class HandlerFor {
 public:
  explicit HandlerFor(int signal) : signal_(signal) {
    struct sigaction action = {};
    action.sa_handler = record_in_handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, &before_);
  }
  ~HandlerFor() { sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ = {};
};

// Calls = delivered + dropped, and no record is torn.
void expect_exact(const CollectingExporter& all, std::uint64_t own_calls) {
  EXPECT_EQ(own_calls + handler_calls, all.heads() + all.dropped());
  const auto check = [&](const CollectingExporter::Record& record) {
    if (record.kind != RecordKind::kInstant) return;
    ASSERT_EQ(record.values.size(), 2u);
    EXPECT_EQ(record.values[0].word1, record.values[1].word1);
  };
  for (const auto& [index, thread] : all.threads()) {
    for (const auto& record : thread.records) check(record);
    expect_nested(all, thread);
  }
  for (const auto& [index, record] : all.side()) {
    check(record);
    EXPECT_NE(record.flags & kFlagSignalHandler, 0);
  }
}

// A thread whose first record is a handler's.
TEST(K2_08, AHandlerMayBeWhatRegistersAThread) {
  handler_calls = 0;
  const HandlerFor handler(SIGUSR1);
  Collection collection;
  std::thread([] {
    raise(SIGUSR1);
    raise(SIGUSR1);
  }).join();
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(all.heads(), 2u);
  expect_exact(all, 0);
}

#if defined(__x86_64__)

// Sanitizers' own runtimes are not made for a handler at each of their
// instructions.
constexpr bool kCanSingleStep = kSlowdown == 1;

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

class SingleStep : public testing::Test {
 protected:
  void SetUp() override {
    if (!kCanSingleStep) GTEST_SKIP() << "under a sanitizer";
    handler_calls = 0;
    set_trap_flag();
    clear_trap_flag();
    if (handler_calls == 0) GTEST_SKIP() << "nothing is single-stepped here";
    handler_calls = 0;
  }

  // The whole of `body`, one instruction at a time.
  template <class Body>
  void step(Body body) {
    set_trap_flag();
    body();
    clear_trap_flag();
    EXPECT_GT(handler_calls, 0u);
  }

 private:
  HandlerFor handler_{SIGTRAP};
};

using K2_08_SingleStep = SingleStep;

TEST_F(K2_08_SingleStep, SpansOnTheFastPath) {
  Collection collection;
  const auto spans = [] {
    WEFT_SPAN("outer");
    WEFT_SPAN("inner", {"value", 1});
  };
  spans();  // sites and thread are known from here on
  step(spans);
  const CollectingExporter& all = collection.stop();
  expect_exact(all, 8);
  EXPECT_GT(all.side().size(), 0u);
  EXPECT_GT(all.heads(), all.side().size() + 8);
}

// The first record of a site and of a thread.
TEST_F(K2_08_SingleStep, RegistrationOfThreadAndSite) {
  Collection collection;
  std::thread([this] {
    step([] { WEFT_SPAN("a new site on a new thread"); });
  }).join();
  expect_exact(collection.stop(), 2);
}

TEST_F(K2_08_SingleStep, SlowPathsOfEveryKind) {
  Collection collection;
  std::thread([this] {
    step([] {
      WEFT_SPAN_NAMED(span, "with text", {"text", "eight bytes and more"});
      span.set("late", 1);
      span.fail("reason");
      WEFT_SPAN_DYN("a name made at run time");
    });
  }).join();
  expect_exact(collection.stop(), 6);
}

// A ring that is full: growth, refusal and loss marks are interrupted too.
TEST_F(K2_08_SingleStep, RingsThatGrowAndOverflow) {
  Collection collection;
  std::uint64_t calls = 0;
  std::thread([&] {
    WEFT_INSTANT("enrolls", {"one", 1}, {"same", 1});
    ++calls;
    // The drainer is held back, so that the room ends.
    Runtime::instance()->drainer->hold(true);
    for (int i = 0; i < 50; ++i) {
      step([] {
        WEFT_SPAN("outer");
        WEFT_SPAN("inner");
      });
      calls += 4;
    }
    Runtime::instance()->drainer->hold(false);
    step([] { WEFT_SPAN("after"); });
    calls += 2;
  }).join();
  const CollectingExporter& all = collection.stop();
  expect_exact(all, calls);
}

#endif  // __x86_64__

}  // namespace
}  // namespace weft::test
