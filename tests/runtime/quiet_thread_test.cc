// SPDX-License-Identifier: Apache-2.0
//
// K6-02: after thread_init() no record meets a page fault or a system call.

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "runtime/collection.h"
#include "runtime/scale.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

std::atomic<int> system_calls{0};
std::atomic<long> last_call{-1};

void count_system_call(int, siginfo_t* info, void*) {
  system_calls.fetch_add(1, std::memory_order_relaxed);
  last_call.store(info->si_syscall, std::memory_order_relaxed);
}

// From now on each system call of the calling thread raises SIGSYS instead,
// but for those by which a handler returns and a thread ends, and getrusage().
bool trap_system_calls() {
  struct sigaction action = {};
  action.sa_sigaction = count_system_call;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSYS, &action, nullptr);
  // So that the thread's end finds its allocator made.
  void* volatile made = std::malloc(1);
  std::free(made);
  constexpr unsigned kAllowed[] = {SYS_rt_sigreturn, SYS_getrusage, SYS_exit,
                                   SYS_madvise, SYS_rt_sigprocmask};
  constexpr unsigned kCount = sizeof kAllowed / sizeof kAllowed[0];
  sock_filter filter[kCount + 3];
  filter[0] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (unsigned i = 0; i < kCount; ++i)
    filter[i + 1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kAllowed[i],
                             static_cast<unsigned char>(kCount - i), 0);
  filter[kCount + 1] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  filter[kCount + 2] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program{kCount + 3, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

long minor_faults() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

TEST(K6_02, RecordsAfterThreadInitMeetNoFaultAndNoSystemCall) {
  if (kSlowdown != 1) GTEST_SKIP() << "a sanitizer has both of its own";
  Collection collection(Collection::Keep::kCounts);
  long faults = -1;
  int calls = -1;
  bool trapped = false;
  std::thread([&] {
    ASSERT_TRUE(thread_init().ok());
    const auto record = [] {
      WEFT_SPAN("span");
      WEFT_INSTANT("instant", {"value", 1});
    };
    record();  // the sites are known
    minor_faults();
    trapped = trap_system_calls();
    const long before = minor_faults();
    for (int i = 0; i < 100'000; ++i) record();
    faults = minor_faults() - before;
    calls = system_calls;
  }).join();
  const CollectingExporter& all = collection.stop();
  if (!trapped) GTEST_SKIP() << "no seccomp filter can be set here";
  EXPECT_EQ(calls, 0) << "the last one was " << last_call;
  EXPECT_EQ(faults, 0);
  EXPECT_EQ(all.heads() + all.dropped(), 300'003u);
}

// The trap works, or the test above proves nothing.
TEST(K6_02, ASystemCallWouldBeSeen) {
  if (kSlowdown != 1) GTEST_SKIP() << "a sanitizer has both of its own";
  bool trapped = false;
  int calls = -1;
  system_calls = 0;
  std::thread([&] {
    trapped = trap_system_calls();
    syscall(SYS_getppid);
    calls = system_calls;
  }).join();
  if (!trapped) GTEST_SKIP() << "no seccomp filter can be set here";
  EXPECT_EQ(calls, 1);
}

// What a thread costs at its first record can be seen: it is one registration.
TEST(K6_02, WithoutThreadInitTheFirstRecordRegistersItsThreadOnce) {
  Collection collection(Collection::Keep::kCounts);
  const RuntimeStatus before = status();
  std::thread([&] {
    WEFT_INSTANT("first");
    const RuntimeStatus registered = status();
    EXPECT_EQ(registered.threads_seen, before.threads_seen + 1);
    EXPECT_GT(registered.ring_bytes_used, before.ring_bytes_used);
    for (int i = 0; i < 100; ++i) WEFT_INSTANT("more");
    EXPECT_EQ(status().threads_seen, before.threads_seen + 1);
  }).join();
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(all.heads() + all.dropped(), 101u);
}

TEST(K6_02, ThreadInitTakesTheLargestRingThatIsAskedFor) {
  Collection collection(Collection::Keep::kCounts);
  std::thread([] {
    ASSERT_TRUE(thread_init(128 << 10).ok());
    EXPECT_EQ(status().ring_bytes_used, 128u << 10);
    ASSERT_TRUE(thread_init(1 << 10).ok());  // has a larger one already
    EXPECT_EQ(status().ring_bytes_used, 128u << 10);
    ASSERT_TRUE(thread_init().ok());
    WEFT_INSTANT("moves on");
  }).join();
  EXPECT_EQ(collection.stop().heads(), 1u);
  EXPECT_EQ(status().ring_bytes_used, 0u);
}

}  // namespace
}  // namespace weft::test
