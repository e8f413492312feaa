// SPDX-License-Identifier: Apache-2.0
#include "weft/clock_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

namespace weft {
namespace {

constexpr std::int64_t kMs = 1'000'000;  // in ns
constexpr std::int64_t kMinNs = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMaxNs = std::numeric_limits<std::int64_t>::max();
constexpr Ticks kMaxTicks = std::numeric_limits<Ticks>::max();

// All four clocks show the same at one tick.
ClockAnchor anchor_at(Ticks tick, std::int64_t ns,
                      std::uint16_t half_width = 20, std::uint32_t epoch = 0,
                      std::uint16_t flags = 0) {
  ClockAnchor anchor;
  anchor.tick.fill(tick);
  anchor.ns.fill(ns);
  anchor.half_width.fill(half_width);
  anchor.epoch = epoch;
  anchor.flags = flags;
  return anchor;
}

TEST(ClockLine, AnchorsKeepTheirTimesExactly) {
  ClockLine line;
  std::mt19937_64 random(3);
  Ticks tick = 1'000'000'007;
  std::int64_t ns = 77;
  std::vector<ClockAnchor> anchors;
  for (int i = 0; i < 1000; ++i) {
    anchors.push_back(anchor_at(tick, ns));
    line.add(anchors.back());
    tick += 1 + random() % 400'000'000;
    ns += static_cast<std::int64_t>(random() % (200 * kMs));
  }
  for (const ClockAnchor& anchor : anchors) {
    EXPECT_EQ(line.to_ns(anchor.tick[0]), anchor.ns[0]);
    EXPECT_FALSE(line.is_extrapolated(anchor.tick[0]));
  }
  EXPECT_EQ(line.anchors(), 1000u);
  EXPECT_EQ(line.last_tick(), anchors.back().tick[0]);
}

TEST(ClockLine, TimeBetweenAnchorsIsAStraightLineRoundedDown) {
  ClockLine line;
  line.add(anchor_at(1000, 500));
  line.add(anchor_at(1000 + 300 * 1000, 500 + 100 * 1000));
  EXPECT_EQ(line.to_ns(1003), 501 - 1);  // the scale itself is rounded down
  EXPECT_EQ(line.to_ns(1004), 501);
  EXPECT_EQ(line.to_ns(1000 + 150'001), 500 + 50'000);
}

TEST(ClockLine, WithoutAnchorsItAssumesTheNominalRateAndSaysSo) {
  const ClockLine line(2e9);
  EXPECT_EQ(line.to_ns(3000), 1500);
  EXPECT_TRUE(line.is_extrapolated(3000));
  EXPECT_EQ(line.bound_ns(3000), ClockLine::kNoBound);
  EXPECT_EQ(line.max_bound_ns(), ClockLine::kNoBound);
  EXPECT_DOUBLE_EQ(line.ns_per_tick(), 0.5);
  EXPECT_EQ(line.last_tick(), 0u);
}

TEST(ClockLine, WithOneAnchorItIsExactThereAndFlaggedElsewhere) {
  ClockLine line(2e9);
  line.add(anchor_at(10'000, 70'000));
  EXPECT_EQ(line.to_ns(10'000), 70'000);
  EXPECT_FALSE(line.is_extrapolated(10'000));
  EXPECT_EQ(line.bound_ns(10'000), 21);
  EXPECT_EQ(line.to_ns(10'200), 70'100);
  EXPECT_EQ(line.to_ns(9'801), 69'900);  // rounded down on this side too
  EXPECT_TRUE(line.is_extrapolated(10'200));
  EXPECT_TRUE(line.is_extrapolated(9'801));
  EXPECT_EQ(line.bound_ns(10'200), ClockLine::kNoBound);
}

TEST(ClockLine, AbsurdNominalRatesCountAsUnknown) {
  for (double hz : {0.0, -1.0, 1e-300, 1e300, std::nan(""),
                    std::numeric_limits<double>::infinity()})
    EXPECT_EQ(ClockLine(hz).to_ns(123), 123) << hz;
}

// A crash cuts a file behind its last anchor. The slope of a last piece of
// 1 ms is off by 10 ppm: 10 us a second further on.
TEST(ClockLine, ExtrapolatesWithTheLastSlopeOfFiftyMilliseconds) {
  ClockLine line;
  line.add(anchor_at(0, 0));
  line.add(anchor_at(200'000'000, 100 * kMs));
  line.add(anchor_at(202'000'000, 101 * kMs + 10));
  const Ticks second_later = 202'000'000 + Ticks{2'000'000'000};
  EXPECT_EQ(line.to_ns(second_later), 1'101 * kMs + 10);
  EXPECT_TRUE(line.is_extrapolated(second_later));
  EXPECT_GE(line.bound_ns(second_later), kMs);  // NTP may turn by 1000 ppm
  EXPECT_LE(line.bound_ns(second_later), kMs + 100);
}

TEST(ClockLine, ShortPiecesBeforeTheFirstGoodOneDoNotExtrapolateBackwards) {
  ClockLine line;
  line.add(anchor_at(2'000'000'000, 1000 * kMs));
  line.add(anchor_at(2'002'000'000, 1001 * kMs + 10));
  line.add(anchor_at(2'202'000'000, 1101 * kMs));
  EXPECT_EQ(line.to_ns(0), 0);
  EXPECT_TRUE(line.is_extrapolated(0));
}

TEST(ClockLine, MonotonicTicksAreTheirOwnTime) {
  ClockLine line;
  for (std::int64_t ns = 5'000; ns < 1'000 * kMs; ns += 100 * kMs + 1) {
    ClockAnchor anchor = anchor_at(static_cast<Ticks>(ns), ns, 20, 0,
                                   kAnchorMonotonicTicks);
    anchor.half_width[0] = 0;
    line.add(anchor);
  }
  for (Ticks tick = 0; tick < 2'000'000'000; tick += 99'991)
    ASSERT_EQ(line.to_ns(tick), static_cast<std::int64_t>(tick));
  EXPECT_DOUBLE_EQ(line.ns_per_tick(), 1);
  EXPECT_EQ(line.correction_count(), 0u);
}

// The bound formula by hand: three pieces of 100 ms at 1.0, 1.0001 and 1.0 ns.
TEST(ClockLine, BoundIsHalfWidthPlusHalfOfWhatTheSlopeChangedBy) {
  ClockLine line;
  line.add(anchor_at(0, 0, 30));
  line.add(anchor_at(100'000'000, 100'000'000, 40));
  line.add(anchor_at(200'000'000, 200'010'000, 20));
  line.add(anchor_at(300'000'000, 300'010'000, 20));
  EXPECT_NEAR(static_cast<double>(line.bound_ns(150'000'000)), 5'041, 1);
  // One neighbour only may see all of the change: no half.
  EXPECT_NEAR(static_cast<double>(line.bound_ns(50'000'000)), 10'041, 1);
  EXPECT_EQ(line.max_bound_ns(), line.bound_ns(50'000'000));
}

TEST(ClockLine, ALonePieceStatesTheMostThatSlewCanHide) {
  ClockLine line;
  line.add(anchor_at(0, 0));
  line.add(anchor_at(2'000'000, kMs));
  EXPECT_EQ(line.bound_ns(1'000'000), 20 + 1 + kMs / 2000 / 4);
}

// L2: a new anchor must not move times that a live reader has already seen.
TEST(ClockLine, AddingAnAnchorMovesNothingBetweenEarlierOnes) {
  ClockLine line;
  std::mt19937_64 random(11);
  Ticks tick = 1'000;
  std::int64_t ns = 0;
  std::vector<std::pair<Ticks, std::int64_t>> seen;
  for (int i = 0; i < 500; ++i) {
    line.add(anchor_at(tick, ns));
    for (const auto& [t, was] : seen)
      ASSERT_EQ(line.to_ns(t), was);
    const Ticks length = 2'000'000 + random() % 1'000;
    if (i > 0 && i % 10 == 0)
      seen.emplace_back(tick - length / 2, line.to_ns(tick - length / 2));
    tick += length;
    ns += kMs;
  }
}

TEST(ClockLine, CursorAnswersLikeALookupWithoutOne) {
  ClockLine line;
  std::mt19937_64 random(5);
  Ticks tick = 1'000'000;
  std::int64_t ns = 0;
  for (int i = 0; i < 200; ++i) {
    line.add(anchor_at(tick, ns));
    tick += 1 + random() % 400'000'000;
    ns += static_cast<std::int64_t>(random() % (200 * kMs));
  }
  ClockLine::Cursor cursor;
  for (int i = 0; i < 100'000; ++i) {
    const Ticks t = random() % (tick + 1'000'000);
    ASSERT_EQ(line.to_ns(t, cursor), line.to_ns(t));
  }
}

TEST(ClockLine, TheSameAnchorTwiceIsNoDamage) {
  ClockLine line;
  for (int i = 0; i < 2; ++i)
    line.add(anchor_at(5, 10));
  line.add(anchor_at(200'000'005, 100 * kMs));
  line.add(anchor_at(200'000'005, 100 * kMs));
  EXPECT_EQ(line.anchors(), 2u);
  EXPECT_EQ(line.correction_count(), 0u);
}

TEST(ClockLine, ContradictingAnchorsAreLeftOutAndListed) {
  ClockLine line;
  line.add(anchor_at(1'000, 1'000, 20, 3));
  line.add(anchor_at(2'000, 2'000, 20, 3));
  line.add(anchor_at(1'500, 3'000, 20, 3));  // tick fell
  line.add(anchor_at(3'000, 1'500, 20, 3));  // time fell
  line.add(anchor_at(2'000, 2'001, 20, 3));  // two times for one tick
  line.add(anchor_at(4'000, 4'000, 20, 2));  // epoch fell
  line.add(anchor_at(9'000, 1'000, 20, 4));  // time fell over a break
  EXPECT_EQ(line.anchors(), 2u);
  EXPECT_EQ(line.correction_count(), 5u);
  for (const ClockCorrection& correction : line.corrections())
    EXPECT_EQ(correction.kind, ClockCorrection::Kind::kDamaged);
  EXPECT_EQ(line.to_ns(1'500), 1'500);
}

TEST(ClockLine, ABreakWithoutAReasonIsStillListed) {
  ClockLine line;
  line.add(anchor_at(0, 0));
  line.add(anchor_at(200'000'000, 100 * kMs));
  line.add(anchor_at(900'000'000, 200 * kMs, 20, 1));
  ASSERT_EQ(line.correction_count(), 1u);
  EXPECT_EQ(line.corrections()[0].kind, ClockCorrection::Kind::kBreak);
  // Up to 1.5 usual pieces behind A is the old epoch, the rest the new one.
  EXPECT_EQ(line.to_ns(300'000'000), 150 * kMs);
  EXPECT_TRUE(line.is_extrapolated(300'000'000));
  EXPECT_EQ(line.to_ns(900'000'000 - 1), 200 * kMs - 1);
  // Both stay between the anchors.
  EXPECT_EQ(line.to_ns(499'000'000), 200 * kMs);
  EXPECT_EQ(line.to_ns(501'000'000), 100 * kMs);
  EXPECT_EQ(line.bound_ns(300'000'000), 20 + 1 + 100 * kMs);
}

// A file may hold anything. Whatever it is: no undefined behaviour (this runs
// under UBSan), no endless work, and time within an epoch never decreases.
TEST(ClockLine, HostileAnchorsGiveDefinedAnswers) {
  const std::vector<Ticks> ticks = {0, 1, 2, 1'000'000, std::uint64_t{1} << 63,
                                    kMaxTicks - 1, kMaxTicks};
  const std::vector<std::int64_t> times = {kMinNs, kMinNs + 1, -1, 0, 1,
                                           kMaxNs - 1, kMaxNs};
  std::mt19937_64 random(17);
  const auto any = [&random](const auto& values) {
    return values[random() % values.size()];
  };
  for (int round = 0; round < 2'000; ++round) {
    ClockLine line(1e9);
    for (int i = 0; i < 8; ++i) {
      ClockAnchor anchor;
      for (std::size_t clock = 0; clock < kClocks; ++clock) {
        anchor.tick[clock] = any(ticks);
        anchor.ns[clock] = any(times);
        anchor.half_width[clock] = static_cast<std::uint16_t>(random());
      }
      anchor.flags = static_cast<std::uint16_t>(random() & 0x3f);
      anchor.epoch = static_cast<std::uint32_t>(random() % 3);
      line.add(anchor);
    }
    MonotoneTime time(line);
    std::int64_t last = kMinNs;
    for (Ticks tick : ticks) {
      for (std::size_t clock = 0; clock < kClocks; ++clock) {
        const auto id = static_cast<ClockId>(clock);
        line.to_ns(tick, id);
        line.is_extrapolated(tick, id);
        EXPECT_GE(line.bound_ns(tick, id), 0);
        EXPECT_GE(line.max_bound_ns(id), 0);
      }
      const std::int64_t ns = time.next(tick);
      EXPECT_GE(ns, last);
      last = ns;
    }
    EXPECT_GE(line.ns_per_tick(), 0);
  }
}

TEST(ClockLine, EpochsAndCorrectionsAreBounded) {
  ClockLine line;
  for (std::uint32_t i = 0; i < 5'000; ++i)
    line.add(anchor_at(i * 1'000, i * 1'000, 20, i));
  EXPECT_EQ(line.anchors(), ClockLine::kMaxEpochs);
  EXPECT_EQ(line.corrections().size(), ClockLine::kMaxCorrections);
  EXPECT_EQ(line.correction_count(), 4'999u);
}

// Anchors almost together must not cost more and more.
TEST(ClockLine, AMillionAnchorsWithinAMomentAreNoMoreWorkEach) {
  ClockLine line;
  for (Ticks tick = 0; tick < 1'000'000; ++tick)
    line.add(anchor_at(tick, static_cast<std::int64_t>(tick)));
  EXPECT_EQ(line.to_ns(777'777), 777'777);
}

// The drainer was off the CPU in every round: the anchor may be wrong by more
// than it can say, so it is worse than none.
TEST(ClockLine, AnAnchorOfUnknownWidthIsLeftOut) {
  ClockLine line;
  line.add(anchor_at(0, 0));
  line.add(anchor_at(100'000'000, 100 * kMs - 70'000, kHalfWidthUnknown));
  line.add(anchor_at(200'000'000, 200 * kMs));
  EXPECT_EQ(line.to_ns(100'000'000), 100 * kMs);
  EXPECT_EQ(line.anchors(), 2u);
  EXPECT_EQ(line.correction_count(), 0u);
}

// A live exporter runs for months.
TEST(ClockLine, KeepsOnlyAsManyAnchorsAsItWasAskedTo) {
  ClockLine line(2e9, 100);
  ClockLine everything(2e9);
  ClockLine::Cursor cursor;
  for (Ticks i = 0; i < 10'000; ++i) {
    const auto ns = static_cast<std::int64_t>(i) * 100 * kMs;
    const std::uint32_t epoch = i < 5'000 ? 0 : 1;
    // One wide anchor long ago must stay visible in the largest bound.
    const std::uint16_t half_width = i == 10 ? 9'000 : 20;
    const ClockAnchor anchor = anchor_at(i * 200'000'000 + epoch * 9, ns,
                                         half_width, epoch);
    line.add(anchor);
    everything.add(anchor);
    if (i > 0) {
      const Ticks middle = anchor.tick[0] - 100'000'000;
      ASSERT_EQ(line.to_ns(middle, cursor), everything.to_ns(middle));
      ASSERT_EQ(line.bound_ns(middle), everything.bound_ns(middle));
    }
  }
  EXPECT_EQ(line.anchors(), 10'000u);
  EXPECT_EQ(line.max_bound_ns(), everything.max_bound_ns());
  EXPECT_EQ(line.correction_count(), 1u);
  // 9 s are kept at least, 100 s are not.
  EXPECT_FALSE(line.is_extrapolated(line.last_tick() - 18'000'000'000));
  EXPECT_TRUE(line.is_extrapolated(line.last_tick() - 200'000'000'000));
}

// Between two anchors the wall clock goes on as before the step, then it is
// ahead; it never runs a thousand times too fast.
TEST(K1_04, AForwardStepOfTheWallClockIsNotSpreadOverThePiece) {
  constexpr std::int64_t kHour = 3'600'000 * kMs;
  ClockLine line;
  line.add(anchor_at(0, 0));
  line.add(anchor_at(100'000'000, 100 * kMs));
  ClockAnchor stepped = anchor_at(200'000'000, 200 * kMs, 20, 0,
                                  kAnchorRealtimeStep);
  stepped.ns[static_cast<std::size_t>(ClockId::kRealtime)] += kHour;
  line.add(stepped);
  EXPECT_EQ(line.to_ns(150'000'000, ClockId::kRealtime), 150 * kMs);
  EXPECT_TRUE(line.is_extrapolated(150'000'000, ClockId::kRealtime));
  EXPECT_EQ(line.to_ns(200'000'000, ClockId::kRealtime), 200 * kMs + kHour);
  EXPECT_EQ(line.to_ns(150'000'000), 150 * kMs);
  EXPECT_FALSE(line.is_extrapolated(150'000'000));
}

// 48 bits of a tick wrap after 19.5 h at 4 GHz.
TEST(K1_02, TicksOfSlotsAreRestoredAcrossTheWrapAndAfterALongIdle) {
  constexpr Ticks kWrap = kTickMask + 1;
  constexpr Ticks kSlack = 4'000'000;  // 1 ms
  constexpr Ticks kEighteenHours = 18 * 3'600 * Ticks{4'000'000'000};
  for (Ticks now : {kWrap + 1'000, 5 * kWrap + 77, (Ticks{1} << 62) + 3}) {
    for (Ticks age : {Ticks{0}, Ticks{1}, Ticks{999}, Ticks{1'001},
                      Ticks{2'000'000}, kEighteenHours}) {
      const Ticks tick = now - age;
      EXPECT_EQ(unwrap_tick(tick & kTickMask, now + kSlack), tick);
    }
    // Another processor's stamp may lie a little ahead of the drainer's.
    EXPECT_EQ(unwrap_tick((now + 3'000) & kTickMask, now + kSlack),
              now + 3'000);
  }
}

TEST(K1_02, TimesAreExactAroundEveryPowerThatOverflows) {
  for (unsigned power : {32u, 47u, 48u, 53u, 62u}) {
    const std::int64_t edge = std::int64_t{1} << power;
    // As ticks that are ns, and as ticks of 2 GHz with 0.5 ns each.
    ClockLine identity;
    ClockLine halves(2e9);
    const std::int64_t begin = edge - 150 * kMs;
    for (int i = 0; i < 4; ++i) {
      const std::int64_t ns = begin + i * 100 * kMs;
      identity.add(anchor_at(static_cast<Ticks>(ns), ns));
      halves.add(anchor_at(static_cast<Ticks>(ns) * 2, ns));
    }
    std::int64_t last = kMinNs;
    for (std::int64_t away : {-100 * kMs, -1'000l, -2l, -1l, 0l, 1l, 2l, 1'000l,
                              100 * kMs}) {
      const std::int64_t ns = edge + away;
      EXPECT_EQ(identity.to_ns(static_cast<Ticks>(ns)), ns) << power;
      EXPECT_EQ(halves.to_ns(static_cast<Ticks>(ns) * 2), ns) << power;
      EXPECT_GT(identity.to_ns(static_cast<Ticks>(ns)), last);
      last = ns;
    }
  }
}

// Times before the clock's zero are legal: a container's boot time, a test's.
TEST(K1_02, NegativeTimesAreExactToo) {
  ClockLine line;
  line.add(anchor_at(1'000, -100 * kMs));
  line.add(anchor_at(1'000 + 200'000'000, 100 * kMs));
  EXPECT_EQ(line.to_ns(1'000), -100 * kMs);
  EXPECT_EQ(line.to_ns(1'000 + 99'999'999), -1);
  EXPECT_EQ(line.to_ns(1'000 + 100'000'000), 0);
}

// A day without an anchor, from a base that is a year old.
TEST(K1_02, ADayInOnePieceIsGoodToTheNanosecond) {
  constexpr std::int64_t kDay = 86'400'000 * kMs;
  constexpr std::uint64_t kHz = 2'096'006'000;
  const Ticks base = 365 * 86'400 * kHz;
  ClockLine line(kHz);
  line.add(anchor_at(base, 365 * kDay));
  line.add(anchor_at(base + 86'400 * kHz, 366 * kDay));
  for (std::uint64_t second = 0; second < 86'400; second += 7) {
    const std::int64_t exact =
        365 * kDay + static_cast<std::int64_t>(second) * 1'000 * kMs;
    ASSERT_LE(std::abs(line.to_ns(base + second * kHz) - exact), 12 * 14);
  }
}

// The stamps of a thread that never pauses while the line is made anew every
// millisecond, each time up to 20 ppm off.
TEST(K1_03, RecalibrationEveryMillisecondNeverDecreasesATime) {
  ClockLine line(2e9);
  std::mt19937_64 random(23);
  const auto noise = [&random] {
    return static_cast<std::int64_t>(random() % 41) - 20;  // 20 ns in 1 ms
  };
  std::vector<Ticks> stamps;
  for (Ticks ms = 0; ms < 2'000; ++ms) {
    const Ticks tick = 2'000'000 * ms;
    line.add(anchor_at(tick, static_cast<std::int64_t>(ms) * kMs + noise()));
    for (Ticks t = tick; t < tick + 2'000'000; t += 997)
      stamps.push_back(t);
  }
  MonotoneTime time(line);
  std::int64_t last = kMinNs;
  for (Ticks tick : stamps) {
    const std::int64_t ns = time.next(tick);
    ASSERT_GE(ns, last);
    last = ns;
  }
  EXPECT_EQ(time.corrections(), 0u);  // the line alone keeps the order
}

// Lookups share a line without locks; TSan watches.
TEST(K1_03, ThreadsConvertConcurrentlyWithCursorsOfTheirOwn) {
  ClockLine line;
  for (Ticks ms = 0; ms < 1'000; ++ms)
    line.add(anchor_at(2'000'000 * ms, static_cast<std::int64_t>(ms) * kMs));
  std::vector<std::thread> readers;
  std::vector<int> decreases(4, 0);
  for (int& mine : decreases) {
    readers.emplace_back([&line, &mine] {
      ClockLine::Cursor cursor;
      std::int64_t last = kMinNs;
      for (Ticks tick = 0; tick < 2'000'000'000; tick += 10'007) {
        const std::int64_t ns = line.to_ns(tick, cursor);
        mine += ns < last;
        last = ns;
      }
    });
  }
  for (std::thread& reader : readers)
    reader.join();
  EXPECT_EQ(decreases, std::vector<int>(4, 0));
}

TEST(MonotoneTime, ATimeThatFallsIsRaisedAndCounted) {
  ClockLine line;
  line.add(anchor_at(0, 0));
  line.add(anchor_at(200'000'000, 200 * kMs));
  MonotoneTime time(line);
  EXPECT_EQ(time.next(1'000), 1'000);
  EXPECT_EQ(time.next(1'000), 1'000);
  EXPECT_EQ(time.corrections(), 0u);  // a tie is no fall
  EXPECT_EQ(time.next(999), 1'000);
  EXPECT_EQ(time.next_ns(500), 1'000);
  EXPECT_EQ(time.corrections(), 2u);
  EXPECT_EQ(time.next(1'001), 1'001);
}

}  // namespace
}  // namespace weft
