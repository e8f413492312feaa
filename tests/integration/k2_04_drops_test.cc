// SPDX-License-Identifier: Apache-2.0
//
// As k2_04_test.cc, with so little ring memory that begins and ends are dropped.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "export/json_trace_check.h"
#include "export/weft_file.h"
#include "integration/nested_load.h"
#include "runtime.h"
#include "weft/session.h"
#include "weft/status.h"

namespace weft::test {
namespace {

TEST(K2_04, TheJsonNestsWhenMostRecordsAreDropped) {
  const TempPath path(".json");
  ASSERT_TRUE(init(path.str()).ok());
  {
    NestedLoad load;
    for (int i = 0; i < 10; ++i) {
      // More than the largest ring holds, while nobody empties it.
      Runtime::instance()->drainer->hold(true);
      load.advance(1500, 0);
      Runtime::instance()->drainer->hold(false);
      load.advance(20, 2);
      ASSERT_TRUE(stop().ok());
      load.advance(1, 2);
      ASSERT_TRUE(start().ok());
    }
    load.advance(1, 0);
  }
  ASSERT_TRUE(stop().ok());
  const RuntimeStatus now = status();
  ASSERT_GT(now.dropped[static_cast<int>(DropReason::kRingFull)], 0u);
  ASSERT_TRUE(shutdown().ok());

  const JsonTrace json = read_json_trace(read_text(path.str()));
  EXPECT_EQ(json.all_problems(), "");
  // Where records are missing, by track.
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>>
      losses;
  std::uint64_t told = 0;
  for (const JsonEvent& loss : json.named("records dropped")) {
    losses[{loss.pid, loss.tid}].push_back(loss.ts_ns);
    told += std::stoull(loss.args.at("records"));
  }
  EXPECT_EQ(told, now.total_dropped());
  EXPECT_EQ(losses.size(), 4u);
  std::uint64_t across = 0;
  for (const auto& [track, spans] : json.spans)
    for (const JsonSpan& span : spans)
      for (const std::int64_t at : losses[track])
        if (span.begin_ns < at && at < span.end_ns) {
          EXPECT_TRUE(span.args.contains("incomplete")) << span.name;
          ++across;
        }
  EXPECT_EQ(across != 0,
            json.tail.find("spans_incomplete") != std::string::npos);
}

}  // namespace
}  // namespace weft::test
