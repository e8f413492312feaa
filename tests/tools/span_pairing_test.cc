// SPDX-License-Identifier: Apache-2.0
#include "span_pairing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "record_stream.h"

namespace weft::tools {
namespace {

using Where = RecordStream::Where;

// Pairs a stream, and checks P1 and P2 on the way out.
class Paired : private SpanSink {
 public:
  explicit Paired(const RecordStream& stream)
      : info_(stream.info), pairing_(info_, requests_, *this) {
    stream.feed(*this);
    check_invariants(stream);
  }

  void add(const exporters::DecodedRecord& record, std::int64_t ns) {
    pairing_.add(record, ns);
  }
  void finish() { pairing_.finish(); }

  const PairedSpan& named(const std::string& name) const {
    for (const PairedSpan& span : spans)
      if (info_.text(span.name) == name) return span;
    ADD_FAILURE() << "no span " << name;
    static const PairedSpan kNone;
    return kNone;
  }
  std::uint64_t root_ns(std::uint32_t thread, bool side = false) const {
    return pairing_.root_ns(std::uint64_t{thread} << 1 | (side ? 1 : 0));
  }
  const Requests& requests() const { return requests_; }

  std::vector<PairedSpan> spans;

 private:
  void span(const PairedSpan& span) override { spans.push_back(span); }

  void check_invariants(const RecordStream& stream) const {
    std::map<LineKey, std::uint64_t> self;
    std::size_t ends = 0;
    for (const PairedSpan& span : spans) {
      if (span.fate == SpanFate::kComplete) self[span.line] += span.self_ns;
      ends += span.fate == SpanFate::kBeginLost ||
                      span.fate == SpanFate::kEndLost
                  ? 1
                  : 2;
    }
    for (const auto& [line, sum] : self)
      EXPECT_EQ(sum, pairing_.root_ns(line)) << "P1, line " << line;
    const auto is_end = [&](const auto& entry) {
      const RecordKind kind = entry.first.kind;
      return kind == RecordKind::kSpanBegin || kind == RecordKind::kSpanEnd ||
             (kind == RecordKind::kAsyncEnd &&
              info_.site(entry.first.site).kind == SiteKind::kSpan);
    };
    // A clipped span may have one end only; such tests count by themselves.
    const bool has_clipped = std::any_of(
        spans.begin(), spans.end(),
        [](const auto& s) { return s.fate == SpanFate::kClipped; });
    if (has_clipped) return;
    EXPECT_EQ(ends, static_cast<std::size_t>(std::count_if(
                        stream.records.begin(), stream.records.end(), is_end)))
        << "P2";
  }

  const exporters::TraceInfo& info_;
  Requests requests_;
  SpanPairing pairing_;
};

TEST(SpanPairing, SelfTimeIsDurationLessSpansDirectlyInside) {
  RecordStream stream;
  const auto a = stream.begin(0, "a");
  const auto b = stream.begin(10, "b");
  const auto c = stream.begin(20, "c");
  stream.end(30, c, "c");
  stream.end(60, b, "b");
  stream.end(100, a, "a");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("a").duration_ns(), 100u);
  EXPECT_EQ(paired.named("a").self_ns, 50u);
  EXPECT_EQ(paired.named("b").self_ns, 40u);
  EXPECT_EQ(paired.named("c").self_ns, 10u);
  EXPECT_EQ(paired.named("c").depth, 2u);
  EXPECT_EQ(paired.root_ns(1), 100u);
}

TEST(SpanPairing, SpansOfNoLengthAreComplete) {
  RecordStream stream;
  const auto a = stream.begin(5, "a");
  const auto b = stream.begin(5, "b");
  stream.end(5, b, "b");
  stream.end(5, a, "a");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("a").fate, SpanFate::kComplete);
  EXPECT_EQ(paired.named("a").duration_ns(), 0u);
  EXPECT_EQ(paired.named("b").duration_ns(), 0u);
}

// Whoever ends too late must not swallow its parent's time.
TEST(SpanPairing, SpanThatEndsAfterItsParentHasItsDurationAndNoSelfTime) {
  RecordStream stream;
  const auto a = stream.begin(0, "a");
  const auto b = stream.begin(10, "b");
  const auto c = stream.begin(20, "c");
  stream.end(30, c, "c");
  stream.end(50, a, "a");
  stream.end(90, b, "b");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("b").fate, SpanFate::kNotNested);
  EXPECT_EQ(paired.named("b").duration_ns(), 80u);
  EXPECT_EQ(paired.named("a").self_ns, 40u);  // less c
  EXPECT_EQ(paired.root_ns(1), 50u);
}

TEST(SpanPairing, SpanMayEndOnAnotherThread) {
  RecordStream stream;
  const auto a = stream.on(1).begin(0, "a");
  const auto b = stream.begin(10, "b");
  const auto c = stream.begin(20, "c");
  stream.on(2).end_of_thread(35, 1, b, "b");
  stream.on(1).end(40, c, "c");
  stream.end(100, a, "a");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("b").fate, SpanFate::kNotNested);
  EXPECT_EQ(paired.named("b").duration_ns(), 25u);
  EXPECT_EQ(paired.named("c").self_ns, 20u);
  EXPECT_EQ(paired.named("a").self_ns, 80u);
}

// A file interleaves threads by blocks: the end may stand before the begin.
TEST(SpanPairing, EndOnAnotherThreadMayStandFirstInTheFile) {
  RecordStream stream;
  stream.on(2).end_of_thread(35, 1, 0, "a");
  stream.on(1).begin(10, "a");

  const Paired paired(stream);
  ASSERT_EQ(paired.spans.size(), 1u);
  EXPECT_EQ(paired.spans[0].fate, SpanFate::kNotNested);
  EXPECT_EQ(paired.spans[0].duration_ns(), 25u);
}

TEST(SpanPairing, EndOnAnotherThreadMayComeWhenItsParentHasEnded) {
  RecordStream stream;
  const auto a = stream.on(1).begin(0, "a");
  const auto b = stream.begin(10, "b");
  stream.end(20, a, "a");
  stream.on(2).end_of_thread(70, 1, b, "b");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("b").fate, SpanFate::kNotNested);
  EXPECT_EQ(paired.named("b").duration_ns(), 60u);
}

TEST(SpanPairing, EndWithoutBeginIsNamedAfterItsSite) {
  RecordStream stream;
  const auto a = stream.begin(0, "a");
  stream.end(10, exporters::kUnknownPosition, "lost");
  stream.end(20, a, "a");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("lost").fate, SpanFate::kBeginLost);
  EXPECT_EQ(paired.named("a").self_ns, 20u);
}

// A main() that never ends must not hide what ran inside it.
TEST(SpanPairing, ChildrenOfASpanThatNeverEndsAreRoots) {
  RecordStream stream;
  stream.begin(0, "main");
  const auto a = stream.begin(10, "a");
  stream.end(30, a, "a");
  const auto b = stream.begin(40, "b");
  stream.end(45, b, "b");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("main").fate, SpanFate::kEndLost);
  EXPECT_EQ(paired.root_ns(1), 25u);
}

TEST(SpanPairing, LostEndOfAChildLeavesItsTimeToTheParent) {
  RecordStream stream;
  const auto a = stream.begin(0, "a");
  stream.begin(10, "lost");
  stream.end(50, a, "a");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("lost").fate, SpanFate::kEndLost);
  EXPECT_EQ(paired.named("a").self_ns, 50u);
}

TEST(SpanPairing, ClippedSpansAreNotComplete) {
  RecordStream stream;
  const auto a = stream.flags(kFlagClipped).begin(0, "begun before");
  const auto b = stream.begin(10, "b");
  stream.end(30, b, "b");
  stream.end(40, a, "begun before");
  const auto c = stream.begin(50, "goes on");
  stream.flags(kFlagClipped).end(70, c, "goes on");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("begun before").fate, SpanFate::kClipped);
  EXPECT_EQ(paired.named("goes on").fate, SpanFate::kClipped);
  EXPECT_EQ(paired.root_ns(1), 20u);
}

TEST(SpanPairing, LossIsSeenByAllSpansAroundIt) {
  RecordStream stream;
  const auto a = stream.begin(0, "a");
  const auto b = stream.begin(10, "b");
  stream.loss(7);
  const auto c = stream.begin(20, "after");
  stream.end(30, c, "after");
  stream.end(40, b, "b");
  stream.end(50, a, "a");
  const auto d = stream.begin(60, "later");
  stream.end(70, d, "later");

  const Paired paired(stream);
  EXPECT_TRUE(paired.named("a").has_loss);
  EXPECT_TRUE(paired.named("b").has_loss);
  EXPECT_FALSE(paired.named("after").has_loss);
  EXPECT_FALSE(paired.named("later").has_loss);
}

TEST(SpanPairing, LossOfAnotherThreadIsNotSeen) {
  RecordStream stream;
  const auto a = stream.on(1).begin(0, "a");
  stream.on(2).loss(7);
  stream.on(1).end(50, a, "a");

  EXPECT_FALSE(Paired(stream).named("a").has_loss);
}

TEST(SpanPairing, FailureMarksTheSpanItNamesAndNoOther) {
  RecordStream stream;
  const auto a = stream.begin(0, "a");
  const auto b = stream.begin(10, "b");
  stream.failure(15, a, "timeout");
  stream.end(20, b, "b");
  stream.end(30, a, "a");

  const Paired paired(stream);
  EXPECT_TRUE(paired.named("a").failed);
  EXPECT_FALSE(paired.named("b").failed);
}

TEST(SpanPairing, FailureFromAnotherThreadFindsItsSpan) {
  RecordStream stream;
  const auto a = stream.on(1).begin(0, "a");
  stream.on(2).flags(kFlagForeign).failure(
      15, async_id(static_cast<ThreadIndex>(1), a), "timeout");
  stream.on(1).end(30, a, "a");

  EXPECT_TRUE(Paired(stream).named("a").failed);
}

TEST(SpanPairing, RequestCoversItsSpansOnAllThreads) {
  RecordStream stream;
  stream.on(1).request(0, 42);
  const auto a = stream.begin(10, "a");
  stream.on(2).request(15, 42);
  const auto b = stream.begin(20, "b");
  stream.end(90, b, "b");
  stream.request(91, 0);
  const auto c = stream.begin(95, "other");
  stream.end(500, c, "other");
  stream.on(1).end(50, a, "a");

  const Paired paired(stream);
  const RequestNumber number = paired.named("a").request;
  EXPECT_NE(number, 0u);
  EXPECT_EQ(paired.named("b").request, number);
  EXPECT_EQ(paired.named("other").request, 0u);
  const RequestTotals& request = paired.requests().totals()[number];
  EXPECT_EQ(request.id.low, 42u);
  EXPECT_EQ(request.begin_ns, 10);
  EXPECT_EQ(request.end_ns, 90);
  EXPECT_EQ(request.spans, 2u);
}

// Positions of handlers count apart, and may equal those of their thread.
TEST(SpanPairing, SignalHandlersHaveAStackOfTheirOwn) {
  RecordStream stream;
  const auto a = stream.on(1).begin(0, "a");
  const auto h = stream.on(1, Where::kSide).begin(5, "handler");
  stream.on(1).end(20, a, "a");
  stream.on(1, Where::kSide).end(30, h, "handler");

  const Paired paired(stream);
  EXPECT_EQ(paired.named("a").self_ns, 20u);
  EXPECT_EQ(paired.named("handler").self_ns, 25u);
  EXPECT_EQ(paired.root_ns(1), 20u);
  EXPECT_EQ(paired.root_ns(1, true), 25u);
}

TEST(SpanPairing, VeryDeepSpansKeepTheirDuration) {
  RecordStream stream;
  std::vector<std::uint64_t> open;
  const std::size_t depth = SpanPairing::kMaxDepth + 100;
  for (std::size_t i = 0; i < depth; ++i)
    open.push_back(stream.begin(static_cast<std::int64_t>(i), "deep"));
  for (std::size_t i = depth; i-- > 0;)
    stream.end(static_cast<std::int64_t>(2 * depth - i), open[i], "deep");

  const Paired paired(stream);
  ASSERT_EQ(paired.spans.size(), depth);
  for (const PairedSpan& span : paired.spans)
    EXPECT_TRUE(span.fate == SpanFate::kComplete ||
                span.fate == SpanFate::kNotNested);
}

// The figures must add up whatever a program does.
TEST(SpanPairing, SelfTimesAddUpToRootsInAnyOrderOfEnds) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return random() % n; };
    RecordStream stream;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> open;
    std::int64_t now = 0;
    for (int i = 0; i < 300; ++i) {
      now += static_cast<std::int64_t>(below(5));
      const auto thread = static_cast<std::uint32_t>(1 + below(3));
      stream.on(thread);
      if (open.empty() || below(2) == 0) {
        open.emplace_back(thread, stream.begin(now, "s"));
        continue;
      }
      const std::size_t which = below(4) == 0 ? below(open.size())
                                              : open.size() - 1;
      const auto [owner, position] = open[which];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      if (below(20) == 0) continue;  // its end is lost
      if (owner == thread)
        stream.end(now, position, "s");
      else
        stream.end_of_thread(now, owner, position, "s");
    }
    SCOPED_TRACE(seed);
    const Paired paired(stream);
  }
}

}  // namespace
}  // namespace weft::tools
