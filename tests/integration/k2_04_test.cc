// SPDX-License-Identifier: Apache-2.0
//
// Recording and a category are switched while spans are open. In the JSON that
// comes out every E has its B and everything nests.

#include <gtest/gtest.h>

#include <string>

#include "export/json_trace_check.h"
#include "export/weft_file.h"
#include "integration/nested_load.h"
#include "runtime/scale.h"
#include "weft/session.h"
#include "weft/status.h"
#include "weft/subscription.h"

namespace weft::test {
namespace {

// Every B with its E, each span inside its parent, and none that had to be
// cut or given a begin.
JsonTrace expect_whole(const TempPath& path, std::uint64_t records) {
  JsonTrace json = read_json_trace(read_text(path.str()));
  EXPECT_EQ(json.all_problems(), "");
  std::uint64_t spans = 0;
  for (const auto& [track, of_track] : json.spans) {
    for (const JsonSpan& span : of_track) {
      EXPECT_FALSE(span.args.contains("clipped")) << span.name;
      EXPECT_FALSE(span.args.contains("incomplete")) << span.name;
    }
    spans += of_track.size();
  }
  EXPECT_EQ(2 * spans, records);
  EXPECT_GT(spans, 0u);
  for (const char* cut : {"spans_open_at_start", "spans_open_at_end",
                          "spans_incomplete", "spans_out_of_order",
                          "spans_ended_elsewhere", "ends_without_begin"})
    EXPECT_EQ(json.tail.find(cut), std::string::npos) << json.tail;
  return json;
}

TEST(K2_04, TheJsonNestsWhileTheSessionIsToggled) {
  const TempPath path(".json");
  ASSERT_TRUE(init(path.str()).ok());
  {
    NestedLoad load;
    for (unsigned i = 0; i < scaled(10'000); ++i) {
      load.advance(2, 2);
      ASSERT_TRUE(stop().ok());
      load.advance(1, 2);
      ASSERT_TRUE(start().ok());
    }
    load.advance(1, 0);  // that one surely is in it
  }
  ASSERT_TRUE(stop().ok());
  const RuntimeStatus now = status();
  EXPECT_EQ(now.total_dropped(), 0u);
  ASSERT_TRUE(shutdown().ok());
  expect_whole(path, now.delivered);
}

// Also while somebody else keeps the sites on, so that spans begin in pauses.
TEST(K2_04, TheJsonNestsWhileTheSessionIsToggledBesideAnotherSubscription) {
  const TempPath path(".json");
  ASSERT_TRUE(init(path.str()).ok());
  {
    NestedLoad load;
    const TempPath other(".json");
    OutputOptions options;
    options.path = other.str();
    std::unique_ptr<Exporter> exporter;
    Error error;
    weft_open_output(options, &exporter, &error);
    ASSERT_NE(exporter, nullptr) << error.message;
    Result<Subscription> beside = subscribe({}, std::move(exporter));
    ASSERT_TRUE(beside.ok());
    for (unsigned i = 0; i < scaled(2'000); ++i) {
      load.advance(2, 2);
      ASSERT_TRUE(stop().ok());
      load.advance(1, 2);
      ASSERT_TRUE(start().ok());
    }
    load.advance(1, 0);
    const Result<SubscriptionEnd> end = beside->stop();
    ASSERT_TRUE(end.ok());
    expect_whole(other, end->delivered);
  }
  ASSERT_TRUE(stop().ok());
  const RuntimeStatus now = status();
  EXPECT_EQ(now.total_dropped(), 0u);
  ASSERT_TRUE(shutdown().ok());
  expect_whole(path, now.delivered);
}

TEST(K2_04, TheJsonNestsWhileACategoryIsToggled) {
  const TempPath path(".json");
  ASSERT_TRUE(init(path.str()).ok());
  {
    NestedLoad load;
    for (unsigned i = 0; i < scaled(10'000); ++i) {
      load.advance(2, 2);
      ASSERT_TRUE(set_categories(i % 2 == 0 ? "net" : "").ok());
    }
    load.advance(1, 0);
  }
  ASSERT_TRUE(stop().ok());
  const RuntimeStatus now = status();
  EXPECT_EQ(now.total_dropped(), 0u);
  ASSERT_TRUE(shutdown().ok());
  const JsonTrace json = expect_whole(path, now.delivered);
  EXPECT_FALSE(json.named("request").empty());
  EXPECT_FALSE(json.named("query").empty());
}

}  // namespace
}  // namespace weft::test
