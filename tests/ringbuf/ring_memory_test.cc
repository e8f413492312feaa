// SPDX-License-Identifier: Apache-2.0
#include "weft/ringbuf/ring_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace weft::ringbuf {
namespace {

constexpr std::size_t kPage = 4096;

class RingMemoryTest : public testing::Test {
 protected:
  ~RingMemoryTest() override { memory_.unmap(); }

  // What a child forked now reads at the start of the memory.
  int first_byte_in_child() const {
    const pid_t child = fork();
    if (child == 0) _exit(std::to_integer<int>(*memory_.at(0)));
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  bool is_resident(std::size_t offset) const {
    unsigned char resident = 0;
    EXPECT_EQ(mincore(memory_.at(offset), kPage, &resident), 0);
    return (resident & 1) != 0;
  }

  RingMemory memory_;
};

TEST_F(RingMemoryTest, IsAlignedToHugePagesAndRoundedUp) {
  ASSERT_TRUE(memory_.reserve(1, RingMemory::Use::kShared));
  EXPECT_EQ(memory_.bytes(), RingMemory::kHugePage);
  EXPECT_EQ(
      reinterpret_cast<std::uintptr_t>(memory_.at(0)) % RingMemory::kHugePage,
      0u);
  EXPECT_EQ(*memory_.at(memory_.bytes() - 1), std::byte{0});
}

// The host must not die of a size that nobody can serve.
TEST_F(RingMemoryTest, SaysWhenTheSystemRefuses) {
  for (const std::size_t less :
       {std::size_t{0}, RingMemory::kHugePage, 2 * RingMemory::kHugePage}) {
    EXPECT_FALSE(memory_.reserve(std::numeric_limits<std::size_t>::max() - less,
                                 RingMemory::Use::kShared));
    EXPECT_FALSE(memory_);
  }
}

// A child that found its parent's writers would record into shared rings.
TEST_F(RingMemoryTest, WipedOnForkReadsAsZerosInTheChild) {
  ASSERT_TRUE(memory_.reserve(kPage, RingMemory::Use::kWipedOnFork));
  *memory_.at(0) = std::byte{42};
  EXPECT_EQ(first_byte_in_child(), 0);
  EXPECT_EQ(*memory_.at(0), std::byte{42}) << "the parent keeps it";
}

TEST_F(RingMemoryTest, SharedStaysInTheChild) {
  ASSERT_TRUE(memory_.reserve(kPage, RingMemory::Use::kShared));
  *memory_.at(0) = std::byte{42};
  EXPECT_EQ(first_byte_in_child(), 42);
}

// Neighbours of a ring that is given back are still in use.
TEST_F(RingMemoryTest, GivingBackZerosWholePagesAndNothingElse) {
  ASSERT_TRUE(memory_.reserve(4 * kPage, RingMemory::Use::kShared));
  std::memset(memory_.at(0), 1, 4 * kPage);
  memory_.give_back(kPage - 1, 2 * kPage + 2);  // pages 1 and 2, and two bytes
  const auto all = [this](std::size_t page, std::byte value) {
    return std::all_of(memory_.at(page * kPage), memory_.at((page + 1) * kPage),
                       [value](std::byte byte) { return byte == value; });
  };
  EXPECT_TRUE(all(0, std::byte{1}));
  EXPECT_TRUE(all(1, std::byte{0}));
  EXPECT_TRUE(all(2, std::byte{0}));
  EXPECT_TRUE(all(3, std::byte{1}));
}

TEST_F(RingMemoryTest, GivingBackLessThanAPageChangesNothing) {
  ASSERT_TRUE(memory_.reserve(2 * kPage, RingMemory::Use::kShared));
  std::memset(memory_.at(0), 1, 2 * kPage);
  memory_.give_back(1, kPage);
  EXPECT_EQ(*memory_.at(kPage), std::byte{1});
  EXPECT_EQ(*memory_.at(1), std::byte{1});
}

// Warming runs beside a thread that already uses the ring.
TEST_F(RingMemoryTest, WarmingKeepsTheContents) {
  ASSERT_TRUE(memory_.reserve(3 * kPage, RingMemory::Use::kShared));
  std::vector<std::byte> before(3 * kPage);
  for (std::size_t i = 0; i < before.size(); ++i)
    before[i] = static_cast<std::byte>(i * 7 + 1);
  std::memcpy(memory_.at(0), before.data(), before.size());
  warm(memory_.at(0), before.size());
  EXPECT_EQ(std::memcmp(memory_.at(0), before.data(), before.size()), 0);
}

// The first record on a cold page would cost microseconds.
TEST_F(RingMemoryTest, WarmingTouchesEveryPageOfTheStretch) {
  ASSERT_TRUE(memory_.reserve(8 * kPage, RingMemory::Use::kShared));
  // Small pages, so that one touch does not bring its neighbours.
  madvise(memory_.at(0), memory_.bytes(), MADV_NOHUGEPAGE);
  warm(memory_.at(2 * kPage + 100), 3 * kPage);  // pages 2 to 5
  EXPECT_FALSE(is_resident(kPage));
  for (std::size_t page = 2; page <= 5; ++page)
    EXPECT_TRUE(is_resident(page * kPage)) << "page " << page;
  EXPECT_FALSE(is_resident(6 * kPage));
}

}  // namespace
}  // namespace weft::ringbuf
