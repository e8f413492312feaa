// SPDX-License-Identifier: Apache-2.0
#include "weft/internal/packed_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace weft::internal {
namespace {

constexpr std::size_t kRoom = 1024;

// Empty if it would not become shorter.
std::string packed(const std::string& text, std::size_t room = kRoom) {
  std::vector<std::uint8_t> bytes(room);
  const std::size_t size = pack_text(text, bytes.data(), room);
  EXPECT_LE(size, room);
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

std::string unpacked(const std::string& bytes, std::size_t room = 16 * kRoom) {
  std::string text(room, '#');
  const std::size_t size = unpack_text(bytes, text.data(), room);
  text.resize(std::min(size, room));
  return text;
}

TEST(PackedText, SizesTakeHalfAByteADigit) {
  EXPECT_EQ(packed("float[64,3,224,224]").size(), 8u);
  EXPECT_EQ(packed("float[1024,1024,128,128]").size(), 11u);
  EXPECT_EQ(packed("c10::BFloat16[2,3] int64[7]").size(), 7u);
}

TEST(PackedText, ComesBackAsItWas) {
  for (const char* text :
       {"float[2,3] double[] {float[2] int[]} 7 0.5 true (1,1) -",
        "float16[2]", "floaty[2,3,4,5,6,7]", "float", "[float[1,2,3]",
        "int[1] longint[22] c10::Half[333] int64[4444] int32[55555]",
        "\x01\xff[1,2,3,4,5,6,7,8]", "[1] !"}) {
    const std::string bytes = packed(text);
    if (!bytes.empty()) {
      EXPECT_LT(bytes.size(), std::string(text).size());
      EXPECT_EQ(unpacked(bytes), text);
    }
  }
  EXPECT_FALSE(packed("float[2,3]").empty());
}

TEST(PackedText, EveryWordIsOne) {
  for (const std::string_view word : kPackedWords) {
    const std::string text = std::string(word) + "[1,2]";
    EXPECT_EQ(packed(text).size(), 4u) << text;
    EXPECT_EQ(unpacked(packed(text)), text);
  }
}

TEST(PackedText, WhatWouldNotShrinkIsLeftAsItIs) {
  EXPECT_EQ(packed(""), "");
  EXPECT_EQ(packed("-"), "");
  EXPECT_EQ(packed("hello"), "");
  EXPECT_EQ(packed("7"), "");
}

TEST(PackedText, NeverWritesBeyondItsRoom) {
  const std::string text(200, '7');
  for (std::size_t room = 0; room < 110; ++room) {
    const std::string bytes = packed(text, room);
    EXPECT_EQ(bytes.empty(), room < 101) << room;
  }
}

TEST(PackedText, AnyTextComesBack) {
  std::mt19937 random(7);
  const std::string letters = "0123456789,,[[]]  floatint({x\x80";
  std::size_t shrunk = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 60, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    const std::string bytes = packed(text);
    if (bytes.empty()) continue;
    ++shrunk;
    EXPECT_EQ(unpacked(bytes), text);
  }
  EXPECT_GT(shrunk, 100u);
}

// What a damaged file may hold.
TEST(PackedText, AnyBytesGiveSomeText) {
  std::mt19937 random(8);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 40, ' ');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_LE(unpacked(bytes).size(), 14 * bytes.size());
    EXPECT_LE(unpacked(bytes, 5).size(), 5u);
  }
  EXPECT_EQ(unpacked("\xee"), "c10::BFloat16");
  EXPECT_EQ(unpacked("\xfe").size(), 5u);
}

}  // namespace
}  // namespace weft::internal
