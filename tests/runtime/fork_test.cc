// SPDX-License-Identifier: Apache-2.0
//
// K2-06: a forked child is silent until it calls init itself; its parent's
// trace is unaffected.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>

#include "runtime/collection.h"
#include "runtime/scale.h"
#include "runtime/session_collector.h"
#include "weft/instant.h"
#include "weft/request.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

// TSan ends a forked child that makes threads. ASan does not hold the locks of
// its allocator over a fork, as the C library does: a child of a process with
// other threads may then wait for ever in its first malloc.
#define SKIP_IF_CHILDREN_CANNOT_ALLOCATE() \
  if (kSlowdown != 1) GTEST_SKIP() << "a sanitizer's child cannot allocate"

// Runs `body` in a child, which ends by _exit; true when that returned true.
template <class Body>
bool in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int state = 0;
  return child > 0 && waitpid(child, &state, 0) == child &&
         WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

TEST(K2_06, AChildIsSilentAndItsParentUnaffected) {
  Collection collection;
  WEFT_INSTANT("before");
  WEFT_SPAN_NAMED(open, "open at the fork");
  EXPECT_TRUE(in_child([&] {
    for (int i = 0; i < 100; ++i) {
      WEFT_SPAN("in the child");
      WEFT_SPAN_DYN("made in the child");
    }
    open.end();
    const Request request(5);
    set_thread_name("child");
    return status().threads_seen == 0 && status().subscriptions == 0;
  }));
  open.end();
  WEFT_INSTANT("after");
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(all.heads(), 4u);
  for (const auto& [id, text] : all.strings())
    EXPECT_NE(text, "made in the child");
}

TEST(K2_06, AChildRecordsOnItsOwnAfterItsInit) {
  SKIP_IF_CHILDREN_CANNOT_ALLOCATE();
  set_thread_name("the parent's name");
  Collection collection;
  WEFT_INSTANT("in both");
  EXPECT_TRUE(in_child([&] {
    const auto collected = open_session_collector();
    if (!init("child").ok()) return false;
    for (int i = 0; i < 100; ++i) WEFT_INSTANT("in the child");
    std::thread([] { WEFT_INSTANT("of a new thread"); }).join();
    if (!shutdown().ok()) return false;
    bool named = false;
    for (const auto& [index, thread] : collected->threads())
      named = named || collected->thread_name(thread) == "the parent's name";
    return named && collected->heads() == 101 && collected->dropped() == 0 &&
           collected->process().pid == static_cast<unsigned>(getpid()) &&
           collected->problems().empty();
  }));
  EXPECT_EQ(collection.stop().heads(), 1u);
}

TEST(K2_06, ACopyOfAParentsSubscriptionEndsNothingInTheChild) {
  SKIP_IF_CHILDREN_CANNOT_ALLOCATE();
  std::optional<Collection> collection(std::in_place);
  EXPECT_TRUE(in_child([&] {
    const auto mine = std::make_shared<CollectingExporter>();
    Result<Subscription> running = subscribe({}, mine);
    if (!running.ok()) return false;
    // Its destructor tries to stop what its number means here.
    collection.reset();
    WEFT_INSTANT("still recorded");
    return running->stop().ok() && mine->heads() == 1;
  }));
  collection->stop();
}

TEST(K2_06, ForksWhileThreadsRecordAreUnaffectedBoth) {
  SKIP_IF_CHILDREN_CANNOT_ALLOCATE();
  Collection collection(Collection::Keep::kCounts);
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> calls{0};
  std::thread recorder([&] {
    while (!done) {
      WEFT_SPAN("flat out");
      calls += 2;
    }
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(in_child([] {
      WEFT_SPAN("in the child");
      return init(InitOptions()).ok() && shutdown().ok();
    }));
  done = true;
  recorder.join();
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(calls, all.heads() + all.dropped());
}

}  // namespace
}  // namespace weft::test
