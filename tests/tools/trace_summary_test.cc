// SPDX-License-Identifier: Apache-2.0
#include "trace_summary.h"

#include <gtest/gtest.h>

#include <string>

#include "record_stream.h"
#include "span_trees.h"

namespace weft::tools {
namespace {

const SpanFigures* find(const RecordStream& stream,
                        const std::vector<SpanFigures>& spans,
                        const std::string& name) {
  for (const SpanFigures& span : spans)
    if (stream.info.text(span.name) == name) return &span;
  return nullptr;
}

// A span on the present thread, with nothing inside.
void leaf(RecordStream* stream, std::int64_t from, std::int64_t to,
          const std::string& name, const std::string& category = "") {
  const auto position = stream->begin(from, name, category);
  stream->end(to, position, name);
}

TEST(TraceSummary, FiguresAreKnownFromConstruction) {
  RecordStream stream;
  for (std::int64_t i = 1; i <= 10; ++i) leaf(&stream, 0, i * 100, "work");
  TraceSummary summary(stream.info, {}, 0);
  stream.feed(summary);

  const SpanFigures* work = find(stream, summary.spans(), "work");
  ASSERT_NE(work, nullptr);
  EXPECT_EQ(work->durations.count(), 10u);
  EXPECT_EQ(work->durations.sum(), 5500u);
  EXPECT_EQ(work->durations.percentile(5000), 500u);
  EXPECT_EQ(work->durations.percentile(9000), 900u);
  EXPECT_EQ(work->durations.max(), 1000u);
}

TEST(TraceSummary, NamesNeverUsedHaveNoRow) {
  RecordStream stream;
  stream.string("unused");
  leaf(&stream, 0, 1, "used");
  TraceSummary summary(stream.info, {}, 0);
  stream.feed(summary);
  EXPECT_EQ(summary.spans().size(), 1u);
}

// What has no true duration must not move a percentile.
TEST(TraceSummary, IncompleteSpansAreCountedApart) {
  RecordStream stream;
  const auto clipped = stream.flags(kFlagClipped).begin(0, "s");
  stream.end(1'000'000, clipped, "s");
  stream.end(1'000'001, exporters::kUnknownPosition, "s");
  leaf(&stream, 1'000'002, 1'000'005, "s");
  stream.begin(1'000'010, "s");
  TraceSummary summary(stream.info, {}, 0);
  stream.feed(summary);

  const SpanFigures* s = find(stream, summary.spans(), "s");
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->durations.count(), 1u);
  EXPECT_EQ(s->durations.max(), 3u);
  EXPECT_EQ(s->clipped, 1u);
  EXPECT_EQ(s->begin_lost, 1u);
  EXPECT_EQ(s->end_lost, 1u);
}

TEST(TraceSummary, AsyncSpansArePairedByIdInAnyOrder) {
  RecordStream stream;
  const auto call = stream.on(1).async_begin(10, "call");
  stream.on(2).async_end(40, 1, call);
  stream.on(2).async_end(90, 3, 0);
  stream.on(3).async_begin(50, "early");
  stream.on(3).async_begin(60, "open");
  TraceSummary summary(stream.info, {}, 0);
  stream.feed(summary);

  EXPECT_TRUE(summary.spans().empty());
  EXPECT_EQ(find(stream, summary.async_spans(), "call")->durations.sum(), 30u);
  EXPECT_EQ(find(stream, summary.async_spans(), "early")->durations.sum(), 40u);
  EXPECT_EQ(find(stream, summary.async_spans(), "open")->end_lost, 1u);
}

TEST(TraceSummary, CountersKnowTheirExtremesAndTheLatestOfAllThreads) {
  RecordStream stream;
  stream.on(1).counter(10, "depth", 4);
  stream.counter(50, "depth", -2);
  stream.on(2).counter(30, "depth", 7);
  TraceSummary summary(stream.info, {}, 0);
  stream.feed(summary);

  ASSERT_EQ(summary.counters().size(), 1u);
  const CounterFigures& depth = summary.counters()[0];
  EXPECT_EQ(depth.samples, 3u);
  EXPECT_EQ(depth.min, -2);
  EXPECT_EQ(depth.max, 7);
  EXPECT_EQ(depth.sum, 9);
  EXPECT_EQ(depth.last, -2);
}

TEST(TraceSummary, FilterCountsWhatItNamesAndKeepsSelfTimes) {
  RecordStream stream;
  const auto outer = stream.on(1).begin(0, "outer", "net");
  leaf(&stream, 10, 30, "inner", "db");
  const auto position = outer;
  stream.end(100, position, "outer");
  stream.on(2);
  leaf(&stream, 0, 5, "outer", "net");
  stream.instant(7, "tick");

  SummaryFilter filter;
  filter.categories.insert(static_cast<std::uint32_t>(stream.string("net")));
  filter.threads.insert(1);
  TraceSummary summary(stream.info, filter, 0);
  stream.feed(summary);

  ASSERT_EQ(summary.spans().size(), 1u);
  EXPECT_EQ(summary.spans()[0].durations.count(), 1u);
  EXPECT_EQ(summary.spans()[0].self_ns, 80u);
  EXPECT_TRUE(summary.instants().empty());
}

TEST(TraceSummary, NameBeyondTheTableIsUnnamedAndNotAnAllocation) {
  RecordStream stream;
  leaf(&stream, 0, 10, "s");
  for (auto& [record, ns] : stream.records)
    record.name = static_cast<StringId>(0xfffffff0u);
  TraceSummary summary(stream.info, {}, 0);
  stream.feed(summary);
  ASSERT_EQ(summary.spans().size(), 1u);
  EXPECT_EQ(summary.spans()[0].name, StringId::kNone);
}

// All spans' names in the order they are shown, by tree.
std::vector<std::string> tree_names(const RecordStream& stream,
                                    std::size_t count) {
  TraceSummary summary(stream.info, {}, count);
  stream.feed(summary);
  SpanTrees trees(stream.info, slowest_trees(summary, count));
  stream.feed(trees);
  std::vector<std::string> out;
  for (const SpanTree& tree : trees.trees()) {
    std::string names;
    for (const PairedSpan& span : tree.spans) {
      names += std::string(names.empty() ? "" : " ") +
               std::string(stream.info.text(span.name));
      const std::string& arguments = trees.arguments(span);
      if (!arguments.empty()) names += "(" + arguments + ")";
    }
    out.push_back(names);
  }
  return out;
}

using Names = std::vector<std::string>;

TEST(SlowestTrees, RootsComeWithTheirChildrenSlowestFirst) {
  RecordStream stream;
  leaf(&stream, 0, 10, "fast");
  const auto slow = stream.begin(20, "slow");
  leaf(&stream, 30, 80, "child");
  stream.end(90, slow, "slow");
  leaf(&stream, 100, 130, "middle");

  EXPECT_EQ(tree_names(stream, 2), (Names{"slow child", "middle"}));
}

TEST(SlowestTrees, ChildOfASpanThatNeverEndsIsARoot) {
  RecordStream stream;
  stream.begin(0, "main");
  const auto a = stream.begin(10, "a");
  leaf(&stream, 20, 25, "inside a");
  stream.end(40, a, "a");
  leaf(&stream, 50, 60, "b");

  EXPECT_EQ(tree_names(stream, 5), (Names{"a inside a", "b"}));
}

TEST(SlowestTrees, ChildOfACompleteSpanIsNoRoot) {
  RecordStream stream;
  for (int i = 0; i < 50; ++i) {
    const auto root = stream.begin(i * 100, "root");
    leaf(&stream, i * 100 + 1, i * 100 + 60 + i % 7, "child");
    stream.end(i * 100 + 70 + i % 5, root, "root");
  }
  for (const std::string& names : tree_names(stream, 10))
    EXPECT_EQ(names, "root child");
}

TEST(SlowestTrees, RequestHasTheSpansOfAllItsThreads) {
  RecordStream stream;
  stream.on(1);
  leaf(&stream, 0, 50, "outside");
  stream.request(60, 7);
  leaf(&stream, 100, 120, "accept");
  stream.request(121, 8);
  leaf(&stream, 122, 124, "other request");
  stream.on(2).request(130, 7);
  leaf(&stream, 140, 300, "work");
  stream.async_begin(145, "call");
  stream.on(3).async_end(150, 2, 3);

  EXPECT_EQ(tree_names(stream, 3),
            (Names{"accept work call", "outside", "other request"}));
}

TEST(SlowestTrees, ArgumentsAndFailuresAreShown) {
  RecordStream stream;
  const auto a = stream.begin(0, "a");
  stream.argument(5, a, "rows", 12);
  stream.failure(6, a, "timeout");
  stream.end(10, a, "a");

  EXPECT_EQ(tree_names(stream, 1), Names{"a(rows=12 FAILED=\"timeout\")"});
}

// A request of a million spans must stay readable, and in bounds.
TEST(SlowestTrees, HugeTreesKeepTheirLongestSpans) {
  RecordStream stream;
  const auto root = stream.begin(0, "root");
  for (std::int64_t i = 1; i <= 5000; ++i)
    leaf(&stream, i * 10'000, i * 10'000 + i, "leaf");
  stream.end(100'000'000, root, "root");

  TraceSummary summary(stream.info, {}, 1);
  stream.feed(summary);
  SpanTrees trees(stream.info, slowest_trees(summary, 1));
  stream.feed(trees);
  ASSERT_EQ(trees.trees().size(), 1u);
  const SpanTree& tree = trees.trees()[0];
  EXPECT_EQ(tree.span_count, 5001u);
  ASSERT_EQ(tree.spans.size(), SpanTrees::kMaxSpans);
  EXPECT_EQ(stream.info.text(tree.spans[0].name), "root");
  EXPECT_EQ(tree.spans[1].duration_ns(), 4002u);
}

}  // namespace
}  // namespace weft::tools
