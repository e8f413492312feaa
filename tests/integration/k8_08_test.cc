// SPDX-License-Identifier: Apache-2.0

// K8-08: stacks of a stripped program with hidden functions and of a plugin that
// was closed; their names are found later, from the trace and the debug files.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "export/weft_file.h"
#include "weft/export/trace_reader.h"
#include "weft/profile/captured_stack.h"
#include "weft/profile/symbolizer.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string text;  // of both streams
};

Outcome run(const std::string& line) {
  Outcome outcome;
  FILE* const pipe = popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.text.append(buffer, n);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class K8_08 : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome recorded =
        run(WEFT_K8_08_PROGRAM " " + trace_.str() + " " WEFT_K8_08_PLUGIN);
    ASSERT_EQ(recorded.code, 0) << recorded.text;
    read_stacks();
    lay_out_debug_files();
  }
  void TearDown() override { fs::remove_all(debug_dir_.str()); }

  void read_stacks() {
    auto reader = exporters::TraceReader::open(trace_.str());
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    const exporters::TraceInfo& info = reader->info();
    exporters::DecodedRecord record;
    while (reader->next(&record))
      for (std::uint32_t i = 0; i < record.value_count; ++i)
        if (record.values[i].type == RecordKind::kStringId)
          stacks_.push_back(std::string(
              info.text(static_cast<StringId>(record.values[i].bits))));
    for (const std::string& text : stacks_) {
      const auto stack = parse_captured_stack(text);
      ASSERT_TRUE(stack.has_value()) << text;
      for (const CapturedFrame& frame : stack->frames) {
        const auto module = parse_loaded_module(info.text(frame.module));
        ASSERT_TRUE(module.has_value()) << text;
        modules_[fs::path(module->path).filename()] = *module;
      }
    }
  }

  // As distributions do it: DIR/.build-id/xx/....debug.
  void lay_out_debug_files() {
    for (const char* path : {WEFT_K8_08_PROGRAM, WEFT_K8_08_PLUGIN}) {
      const std::string id = modules_[fs::path(path).filename()].build_id;
      ASSERT_GE(id.size(), 8u) << path;
      const fs::path to = fs::path(debug_dir_.str()) / ".build-id" /
                          id.substr(0, 2) / (id.substr(2) + ".debug");
      fs::create_directories(to.parent_path());
      fs::copy_file(std::string(path) + ".debug", to);
    }
  }

  std::string symbolize(const std::string& options = {}) const {
    const Outcome outcome =
        run(WEFT_COMMAND " symbolize " + trace_.str() + " " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    return outcome.text;
  }

  TempPath trace_{".weft"};
  TempPath debug_dir_{".debug"};
  std::vector<std::string> stacks_;
  std::map<std::string, LoadedModule> modules_;  // by the name of the file
};

// What the trace lacks nobody can find later.
TEST_F(K8_08, TheTraceNamesModuleBuildIdAndOffsetOfEachFrame) {
  ASSERT_GE(stacks_.size(), 2u);
  for (const char* path : {WEFT_K8_08_PROGRAM, WEFT_K8_08_PLUGIN}) {
    const LoadedModule& module = modules_[fs::path(path).filename()];
    EXPECT_TRUE(fs::equivalent(module.path, path)) << module.path;
    EXPECT_GT(module.load_base, 0u);
    EXPECT_GE(module.bytes, 4096u);
    EXPECT_TRUE(has(run("readelf -n " + std::string(path)).text,
                    "Build ID: " + module.build_id))
        << module.build_id;
  }
  // libc's qsort lies between the program's functions.
  EXPECT_GE(modules_.size(), 3u);
}

// Hidden functions are in no dynamic symbol table.
TEST_F(K8_08, DebugFilesGiveNamesAndLinesAlsoOfAClosedPlugin) {
  const std::string text = symbolize("--debug-dir " + debug_dir_.str());
  EXPECT_TRUE(has(text, ": k8_08::hidden_in_program()\n")) << text;
  EXPECT_TRUE(has(text, ": k8_08::hidden_in_plugin(void (*)())\n")) << text;
  EXPECT_TRUE(has(text, ": k8_08_plugin_entry\n")) << text;
  EXPECT_TRUE(has(text, ": main\n")) << text;
  if (!source_lines_available()) GTEST_SKIP() << "built without libdw";
  // Inlined, so without a frame of its own.
  const std::size_t inlined = text.find("k8_08::inlined_in_program()\n");
  ASSERT_NE(inlined, std::string::npos) << text;
  EXPECT_GT(text.find(": k8_08::hidden_in_program()\n"), inlined);
  EXPECT_TRUE(has(text, "k8_08_plugin.cc(8): k8_08::hidden_in_plugin(void (*)"
                        "())\n"))
      << text;
}

// A demangler that answers "no" must not take the name with it.
TEST_F(K8_08, NamesThatDoNotDemangleStayAsTheyAre) {
  const std::string text = symbolize("--debug-dir " + debug_dir_.str());
  EXPECT_TRUE(has(text, ": _Zdoes_not_demangle\n")) << text;
}

TEST_F(K8_08, FramesWithoutSymbolsAreModuleAndOffset) {
  const std::string text = symbolize("--debug-dir /nonexistent");
  EXPECT_TRUE(has(text, "  k8_08_program+0x")) << text;
  EXPECT_FALSE(has(text, "hidden_in_program")) << text;
  // Exported, so the stripped plugin itself has it.
  EXPECT_TRUE(has(text, "libk8_08_plugin.so: k8_08_plugin_entry\n")) << text;
}

TEST_F(K8_08, FramesOfLibcAreAmongThoseOfTheProgram) {
  const auto names_libc = [&](const std::string& text) {
    const auto stack = parse_captured_stack(text);
    for (const CapturedFrame& frame : stack->frames)
      if (frame.module != stack->frames.front().module) return true;
    return false;
  };
  EXPECT_TRUE(std::any_of(stacks_.begin(), stacks_.end(), names_libc));
}

// Names of another build would be wrong ones.
TEST_F(K8_08, AFileThatWasBuiltAgainIsNotUsed) {
  LoadedModule module = modules_["libk8_08_plugin.so"];
  module.build_id[0] = module.build_id[0] == '0' ? '1' : '0';
  Symbolizer symbolizer({.debug_dirs = {debug_dir_.str()}});
  const std::vector<ResolvedFrame> frames = symbolizer.resolve(module, 0x1234);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].text(), "libk8_08_plugin.so+0x1234");
  ASSERT_EQ(symbolizer.problems().size(), 1u);
  EXPECT_TRUE(has(symbolizer.problems()[0], module.build_id));
}

TEST_F(K8_08, JsonHasModulesOffsetsAndFunctions) {
  const std::string text =
      symbolize("--format json --debug-dir " + debug_dir_.str());
  for (const char* part :
       {"\"function\": \"k8_08::hidden_in_program()\"", "\"build_id\": \"",
        "\"offset\": \"0x", "\"load_base\": \"0x", "\"records\": "})
    EXPECT_TRUE(has(text, part)) << part << " in " << text;
}

}  // namespace
}  // namespace weft::test
