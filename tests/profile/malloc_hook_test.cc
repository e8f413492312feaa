// SPDX-License-Identifier: Apache-2.0

// This program under libweft_malloc.so, which ctest preloads.

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "weft/profile/memory_report.h"
#include "weft/profile/profiler.h"

namespace weft {
namespace {

// Blocks of the tests are larger than any that others take meanwhile.
constexpr std::size_t kLarge = std::size_t{3} << 20;

// Not elided, whatever the compiler knows of malloc.
void* volatile keep;
void* kept(void* block) {
  keep = block;
  return keep;
}

class MallocHook : public testing::Test {
 protected:
  void SetUp() override {
    const char* const preload = std::getenv("LD_PRELOAD");
    if (preload == nullptr ||
        std::string(preload).find("weft_malloc") == std::string::npos)
      GTEST_SKIP() << "run it by ctest, or with LD_PRELOAD=" WEFT_MALLOC_HOOK;
  }

  // The large blocks' records, in the order of time.
  template <class Body>
  static std::vector<MemoryRecord> records(const Body& body) {
    ProfilerOptions options;
    options.profile_memory = true;
    options.coverage = ThreadCoverage::kAllThreads;
    Profiler profiler(options);
    EXPECT_TRUE(profiler.start().ok());
    EXPECT_TRUE(memory_wanted());
    body();
    EXPECT_TRUE(profiler.stop().ok());
    const auto result = profiler.result();
    EXPECT_TRUE(result.ok());
    EXPECT_EQ((*result)->statistics().records_dropped, 0u);
    std::vector<MemoryRecord> large;
    for (const MemoryRecord& record : (*result)->memory_records())
      if (record.bytes >= std::int64_t{kLarge} ||
          record.bytes <= -std::int64_t{kLarge})
        large.push_back(record);
    return large;
  }

  // Every release names a block that lives, with its size; none is left.
  static void expect_balanced(const std::vector<MemoryRecord>& records,
                              std::size_t blocks) {
    std::map<std::uint64_t, std::int64_t> live;
    std::size_t taken = 0;
    for (const MemoryRecord& record : records) {
      if (record.bytes > 0) {
        ++taken;
        EXPECT_TRUE(live.emplace(record.address, record.bytes).second);
      } else {
        const auto block = live.find(record.address);
        ASSERT_NE(block, live.end());
        EXPECT_EQ(block->second, -record.bytes);
        live.erase(block);
      }
    }
    EXPECT_TRUE(live.empty());
    EXPECT_EQ(taken, blocks);
  }
};

TEST_F(MallocHook, EveryWayToAllocateIsSeen) {
  std::vector<std::int64_t> usable;
  const auto all = records([&] {
    void* aligned = nullptr;
    ASSERT_EQ(posix_memalign(&aligned, 64, kLarge), 0);
    for (void* block :
         {kept(malloc(kLarge)), kept(calloc(kLarge / 8, 8)),
          kept(realloc(nullptr, kLarge)), kept(reallocarray(nullptr, kLarge, 1)),
          kept(aligned_alloc(4096, kLarge)), kept(memalign(256, kLarge)),
          kept(valloc(kLarge)), kept(pvalloc(kLarge)), kept(aligned)}) {
      ASSERT_NE(block, nullptr);
      usable.push_back(static_cast<std::int64_t>(malloc_usable_size(block)));
      free(block);
    }
    operator delete(kept(operator new(kLarge)));
    operator delete[](kept(operator new[](kLarge, std::align_val_t(128))),
                      std::align_val_t(128));
  });
  expect_balanced(all, usable.size() + 2);
  for (const std::int64_t bytes : usable)
    EXPECT_GE(bytes, std::int64_t{kLarge});
}

TEST_F(MallocHook, ReallocIsAReleaseAndAnAllocation) {
  void* first = nullptr;
  const auto all = records([&] {
    first = kept(malloc(kLarge));
    std::memset(first, 7, kLarge);
    auto* const second = static_cast<char*>(kept(realloc(first, 2 * kLarge)));
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second[kLarge - 1], 7);
    free(second);
  });
  ASSERT_EQ(all.size(), 4u);
  expect_balanced(all, 2);
  EXPECT_GE(all[2].bytes, std::int64_t{2 * kLarge});
}

TEST_F(MallocHook, FailuresAreReportedAndTheBlockStays) {
  // Volatile: the compiler knows that these fail, and what it may do then.
  volatile std::size_t too_much = PTRDIFF_MAX;
  const auto all = records([&] {
    char* volatile const block = static_cast<char*>(kept(malloc(kLarge)));
    *block = 5;
    errno = 0;
    EXPECT_EQ(kept(malloc(too_much)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(kept(realloc(block, too_much)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(kept(reallocarray(block, too_much, 4)), nullptr);
    EXPECT_EQ(*block, 5);
    free(block);
  });
  int failures = 0;
  std::vector<MemoryRecord> others;
  for (const MemoryRecord& record : all) {
    if (record.failed)
      ++failures;
    else
      others.push_back(record);
  }
  EXPECT_EQ(failures, 3);
  // Taken, given to realloc and come back, freed.
  expect_balanced(others, 2);
}

TEST_F(MallocHook, ErrnoIsTheProgramsOwn) {
  records([] {
    errno = EDOM;
    free(kept(malloc(kLarge)));
    free(kept(calloc(1, kLarge)));
    EXPECT_EQ(errno, EDOM);
  });
}

TEST_F(MallocHook, ThreadsThatComeAndGoAreSeen) {
  constexpr int kThreads = 8;
  constexpr int kBlocks = 20;
  const auto all = records([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([] {
        // Freed when the thread's storage goes.
        thread_local std::unique_ptr<char[]> last;
        last.reset(new char[kLarge]);
        for (int i = 1; i < kBlocks; ++i) free(kept(malloc(kLarge)));
      });
    for (std::thread& thread : threads) thread.join();
  });
  std::int64_t bytes = 0;
  for (const MemoryRecord& record : all) bytes += record.bytes;
  EXPECT_EQ(bytes, 0);
  EXPECT_EQ(all.size(), std::size_t{2 * kThreads * kBlocks});
}

TEST_F(MallocHook, AForkedChildAllocatesAsBefore) {
  records([] {
    const pid_t child = fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
      for (int i = 0; i < 100; ++i) free(kept(malloc(kLarge)));
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  });
}

// A record made while nobody wants it would be a lie.
TEST_F(MallocHook, NothingIsReportedWithoutASession) {
  EXPECT_FALSE(memory_wanted());
  void* const before = kept(malloc(kLarge));
  const auto all = records([] {});
  free(before);
  EXPECT_TRUE(all.empty());
}

struct Outcome {
  int status = -1;
  std::string text;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome run(const std::string& line) {
  Outcome outcome;
  FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.text.append(buffer, n);
  outcome.status = pclose(pipe);
  return outcome;
}

// Programs that know nothing of weft: shells that fork, an interpreter with
// threads and an allocator of its own, one that ends by a signal.
TEST(MallocHookPrograms, DoWhatTheyDoWithoutIt) {
  for (const char* program :
       {"seq 1 20000 | sort -R --random-source=/bin/sh | sort -n | md5sum",
        "python3 -c \"import threading as t; r=[]; "
        "w=[t.Thread(target=lambda n=n: r.append(sum(len(str(i)) for i in "
        "range(n*1000)))) for n in range(20)]; [x.start() for x in w]; "
        "[x.join() for x in w]; print(sorted(r))\"",
        "sh -c 'for i in 1 2 3; do (echo $i; sh -c \"echo $i\") ; done'",
        "sh -c 'kill -TERM $$'", "ls / | sort | head -3"}) {
    const std::string line(program);
    const std::string quiet = " 2>/dev/null";
    const Outcome with =
        run("export LD_PRELOAD=" WEFT_MALLOC_HOOK "; " + line + quiet);
    const Outcome without = run("unset LD_PRELOAD; " + line + quiet);
    EXPECT_EQ(with, without) << program << "\n" << with.text;
    EXPECT_NE(without.status, -1);
  }
}

}  // namespace
}  // namespace weft
