// SPDX-License-Identifier: Apache-2.0
#include "init_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>

namespace weft {
namespace {

Environment with(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(InitConfig, TheEnvironmentWinsOverTheCode) {
  InitOptions options;
  options.output = "code.weft";
  options.categories = "code";
  options.ring_bytes = 1 << 20;
  options.clock = ClockChoice::kTsc;
  const Result<FinalConfig> config =
      finalize(options, with({{"WEFT_OUT", "environment.weft"},
                              {"WEFT_CATEGORIES", "net"},
                              {"WEFT_RING_KB", "512"},
                              {"WEFT_CLOCK", "monotonic"},
                              {"WEFT_START", "0"},
                              {"WEFT_QUIET", "1"}}));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->options.output, "environment.weft");
  EXPECT_EQ(config->filter.text(), "net");
  EXPECT_EQ(config->options.ring_bytes, 512u << 10);
  EXPECT_EQ(config->clock, ClockRequest::kMonotonic);
  EXPECT_FALSE(config->options.start);
  EXPECT_TRUE(config->quiet);
}

TEST(InitConfig, WithoutAnEnvironmentTheCodeHolds) {
  InitOptions options;
  options.output = "code.weft";
  const Result<FinalConfig> config = finalize(options, with({}));
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->options.output, "code.weft");
  EXPECT_TRUE(config->options.start);
}

struct Wrong {
  std::string variable;
  std::string value;
  std::string limit;
};
class WrongEnvironment : public testing::TestWithParam<Wrong> {};

TEST_P(WrongEnvironment, IsRefusedWithItsNameValueAndLimit) {
  const Result<FinalConfig> config =
      finalize({}, with({{GetParam().variable, GetParam().value}}));
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().code, ErrorCode::kInvalidEnvironment);
  const std::string& message = config.error().message;
  EXPECT_NE(message.find(GetParam().variable), std::string::npos) << message;
  EXPECT_NE(message.find(GetParam().limit), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongEnvironment,
    testing::Values(Wrong{"WEFT_RING_KB", "many", "\"many\": must be a number"},
                    Wrong{"WEFT_RING_KB", "-1", "\"-1\": must be a number"},
                    Wrong{"WEFT_RING_KB", "8", "between 262144 and"},
                    Wrong{"WEFT_RING_KB", "99999999999999999999", "number"},
                    Wrong{"WEFT_ROTATE_MB", "large", "a number of MiB"},
                    Wrong{"WEFT_ROTATE_S", "-5", "a number of seconds"},
                    Wrong{"WEFT_ROTATE_MB", "99999999999999", "a number of MiB"},
                    Wrong{"WEFT_KEEP_MB", "64", "twice the bytes of a file"},
                    Wrong{"WEFT_CLOCK", "sundial", "auto, tsc or monotonic"},
                    Wrong{"WEFT_START", "maybe", "0, off, 1 or on"},
                    Wrong{"WEFT_CATEGORIES", "net,,db", "an empty name"}));

TEST(InitConfig, RotationIsReadAndChecked) {
  InitOptions options;
  options.output = "service.weft";
  const Result<FinalConfig> config =
      finalize(options, with({{"WEFT_ROTATE_MB", "64"},
                              {"WEFT_ROTATE_S", "3600"},
                              {"WEFT_KEEP_MB", "1024"}}));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->options.rotation.bytes, 64u << 20);
  EXPECT_EQ(config->options.rotation.after, std::chrono::hours(1));
  EXPECT_EQ(config->options.rotation.keep_bytes, 1024u << 20);

  options.rotation.bytes = 1 << 20;
  options.output = "service.json";
  EXPECT_EQ(finalize(options, with({})).error().message,
            "rotation of output = \"service.json\": only .weft files that are "
            "streamed are rotated");
  options.output = "service.weft";
  options.mode = Mode::kFlightRecorder;
  EXPECT_FALSE(finalize(options, with({})).ok());
}

TEST(InitConfig, OptionsInCodeAreRefusedWithNameValueAndLimit) {
  const auto refuse = [](const InitOptions& options, const std::string& name,
                         const std::string& value) {
    const Result<FinalConfig> config = finalize(options, with({}));
    ASSERT_FALSE(config.ok()) << name;
    EXPECT_EQ(config.error().code, ErrorCode::kInvalidArgument);
    const std::string& message = config.error().message;
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find(value), std::string::npos) << message;
    EXPECT_NE(message.find("must"), std::string::npos) << message;
  };
  InitOptions options;
  options.ring_bytes = 1000;
  refuse(options, "ring_bytes", "1000");
  options = {};
  options.top_ring_bytes = 3 << 20;
  refuse(options, "top_ring_bytes", std::to_string(3 << 20));
  options = {};
  options.block_pool_bytes = 1;
  refuse(options, "block_pool_bytes", "1");
  options = {};
  options.flush_after = std::chrono::milliseconds(0);
  refuse(options, "flush_after", "0 ms");
}

TEST(InitConfig, ASmallBoundBoundsTheLargestRingToo) {
  InitOptions options;
  options.ring_bytes = 256 << 10;
  const Result<FinalConfig> config = finalize(options, with({}));
  ASSERT_TRUE(config.ok());
  EXPECT_LE(config->options.top_ring_bytes, config->options.ring_bytes);
}

TEST(InitConfig, PathsAreExpanded) {
  EXPECT_EQ(expand_path("a.%p.weft"),
            "a." + std::to_string(getpid()) + ".weft");
  EXPECT_EQ(expand_path("100%%"), "100%");
  EXPECT_EQ(expand_path("%q%"), "%q%");
  EXPECT_EQ(expand_path("%e").find('%'), std::string::npos);
}

}  // namespace
}  // namespace weft
