// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/symbolizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "elf_file.h"
#include "export/weft_file.h"

namespace weft::profile {
namespace {

using test::Bytes;
using test::TempPath;

// Offsets in this program, which has symbols and is not stripped.
LoadedModule this_program(const ElfFile& file) {
  return {file.build_id(), 0, 1, file.path()};
}

ElfFile open_this_program() {
  auto file = ElfFile::open("/proc/self/exe");
  EXPECT_TRUE(file.ok());
  return std::move(file).value();
}

TEST(ElfFile, KnowsItsBuildIdAndFunctions) {
  ElfFile file = open_this_program();
  EXPECT_EQ(file.build_id().size(), 40u);
  EXPECT_TRUE(file.has_full_symbols());
  EXPECT_EQ(file.function_at(0), "");
  EXPECT_EQ(file.function_at(~std::uint64_t{0}), "");
}

TEST(ElfFile, WhatIsNoElfFileIsRefusedInWords) {
  const TempPath path(".txt");
  test::write_file(path.str(), Bytes(100, 'x'));
  const auto text = ElfFile::open(path.str());
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(text.error().message.find(path.str()), std::string::npos);
  EXPECT_EQ(ElfFile::open("/nonexistent").error().code, ErrorCode::kIo);
  EXPECT_EQ(ElfFile::open("/").error().code, ErrorCode::kCorrupt);
}

// The headers and sections of a small file, to be spoilt.
Bytes small_elf() {
  Bytes bytes = test::read_file(WEFT_TEST_SMALL_ELF);
  EXPECT_GT(bytes.size(), sizeof(Elf64_Ehdr));
  return bytes;
}

void exercise(const Bytes& bytes) {
  const TempPath path(".elf");
  test::write_file(path.str(), bytes);
  auto file = ElfFile::open(path.str());
  if (!file.ok()) return;
  for (std::uint64_t address = 0; address < 0x8000; address += 0x80)
    (void)file->function_at(address);
  Symbolizer symbolizer({.debug_dirs = {}});
  const LoadedModule module{file->build_id(), 0, 1, path.str()};
  for (std::uint64_t address = 0; address < 0x8000; address += 0x400)
    EXPECT_GE(symbolizer.resolve(module, address).size(), 1u);
}

// Debug files may come from anywhere.
TEST(ElfFile, CutFilesEndInFewerSymbols) {
  const Bytes whole = small_elf();
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 97 + 1)
    exercise(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
}

TEST(ElfFile, SpoiltFilesEndInAnErrorOrInFewerSymbols) {
  const Bytes whole = small_elf();
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Bytes bytes = whole;
    const std::size_t headers = bytes.size() - 64 * 40;
    for (int i = 0; i < 8; ++i) {
      // Half of them where the headers of the file and of sections are.
      const std::size_t at = i % 4 == 0   ? random() % 64
                             : i % 2 == 0 ? headers + random() % (64 * 40)
                                          : random() % bytes.size();
      bytes[at] = static_cast<std::uint8_t>(random());
    }
    exercise(bytes);
  }
}

TEST(Symbolizer, AFrameSaysWhatIsKnownOfIt) {
  ResolvedFrame frame;
  frame.offset = 0x1234;
  EXPECT_EQ(frame.text(), "0x1234");
  frame.module = "libworker.so";
  EXPECT_EQ(frame.text(), "libworker.so+0x1234");
  frame.function = "serve()";
  EXPECT_EQ(frame.text(), "libworker.so: serve()");
  frame.file = "server.cc";
  frame.line = 57;
  EXPECT_EQ(frame.text(), "server.cc(57): serve()");
}

TEST(Symbolizer, TextThatIsNoStackIsItsOwnFrame) {
  Symbolizer symbolizer;
  const auto none = [](StringId) { return std::string_view(); };
  EXPECT_EQ(symbolizer.frames("(other names)", none),
            std::vector<std::string>{"(other names)"});
  EXPECT_EQ(symbolizer.frames("5+1a;0+2b;...", none),
            (std::vector<std::string>{"0x1a", "0x2b", "(more frames)"}));
}

TEST(Symbolizer, AModuleThatIsGoneLeavesOffsetsAndAReason) {
  Symbolizer symbolizer;
  const auto frames =
      symbolizer.resolve({"ab12", 0, 1, "/nonexistent/libgone.so"}, 0x42);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].text(), "libgone.so+0x42");
  ASSERT_EQ(symbolizer.problems().size(), 1u);
  EXPECT_NE(symbolizer.problems()[0].find("/nonexistent/libgone.so"),
            std::string::npos);
}

TEST(Symbolizer, WithoutLinesSymbolTablesAloneAreAsked) {
  const ElfFile file = open_this_program();
  Symbolizer symbolizer({.source_lines = false});
  for (std::uint64_t offset = 0x1000; offset < 0x40000; offset += 0x100)
    for (const ResolvedFrame& frame :
         symbolizer.resolve(this_program(file), offset))
      ASSERT_EQ(frame.file, "");
  EXPECT_TRUE(symbolizer.problems().empty());
}

}  // namespace
}  // namespace weft::profile
