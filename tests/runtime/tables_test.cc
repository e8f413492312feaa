// SPDX-License-Identifier: Apache-2.0
//
// The tables and stocks that recording threads share without a lock.

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "category_filter.h"
#include "segment_stock.h"
#include "site_registry.h"
#include "string_table.h"
#include "weft/ringbuf/ring_memory.h"

namespace weft {
namespace {

std::string text_of(const StringTable& table, StringId id) {
  std::string_view text;
  return table.text(id, &text) ? std::string(text) : "(unreadable)";
}

TEST(StringTable, EqualTextHasOneId) {
  StringTable table;
  ASSERT_TRUE(table.reserve(1 << 20));
  const StringId id = table.intern("name");
  EXPECT_EQ(table.intern(std::string("na") + "me"), id);
  EXPECT_NE(table.intern("Name"), id);
  EXPECT_EQ(text_of(table, id), "name");
  EXPECT_EQ(text_of(table, table.intern("")), "");
  EXPECT_EQ(text_of(table, StringId::kOtherNames), "(other names)");
  std::string_view none;
  EXPECT_FALSE(table.text(StringId::kNone, &none));
  EXPECT_FALSE(table.text(static_cast<StringId>(table.end()), &none));
}

TEST(StringTable, TextBeyondTheLimitIsCut) {
  StringTable table;
  ASSERT_TRUE(table.reserve(1 << 20));
  const std::string text(StringTable::kMaxTextBytes + 1, 'x');
  EXPECT_EQ(text_of(table, table.intern(text)).size(),
            StringTable::kMaxTextBytes);
}

TEST(StringTable, WhatFindsNoRoomIsCountedAndTheRestStaysFound) {
  StringTable table;
  ASSERT_TRUE(table.reserve(64 << 10));
  std::vector<StringId> ids;
  while (table.refused() == 0)
    ids.push_back(table.intern("name " + std::to_string(ids.size())));
  EXPECT_EQ(ids.back(), StringId::kOtherNames);
  EXPECT_EQ(table.intern("another"), StringId::kOtherNames);
  EXPECT_EQ(table.refused(), 2u);
  for (std::size_t i = 0; i + 1 < ids.size(); ++i)
    EXPECT_EQ(table.intern("name " + std::to_string(i)), ids[i]);
  EXPECT_EQ(table.refused(), 2u);
}

TEST(StringTable, ThreadsThatInternTheSameTextAgree) {
  StringTable table;
  ASSERT_TRUE(table.reserve(1 << 20));
  constexpr unsigned kThreads = 4;
  constexpr unsigned kNames = 1000;
  std::vector<std::vector<StringId>> ids(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < kNames; ++i)
        ids[t].push_back(table.intern("name " + std::to_string(i)));
    });
  for (std::thread& thread : threads) thread.join();
  for (unsigned t = 1; t < kThreads; ++t) EXPECT_EQ(ids[t], ids[0]);
  EXPECT_EQ(std::set<StringId>(ids[0].begin(), ids[0].end()).size(), kNames);
  for (unsigned i = 0; i < kNames; ++i)
    EXPECT_EQ(text_of(table, ids[0][i]), "name " + std::to_string(i));
}

constexpr std::size_t kTop = 256 << 10;

TEST(SegmentStock, KeepsItsBoundAndServesFromWhatComesBack) {
  SegmentStock stock;
  ASSERT_TRUE(stock.reserve(1 << 20, kTop));
  std::vector<ringbuf::Segment> tops;
  for (;;) {
    const ringbuf::Segment top = stock.take(Rung::kTop);
    if (top.capacity == 0) break;
    tops.push_back(top);
  }
  EXPECT_EQ(tops.size(), 4u);
  EXPECT_EQ(stock.used_bytes(), 1u << 20);
  EXPECT_EQ(stock.take(Rung::kSmall).capacity, 0u);
  stock.give(tops.back());
  // A large one is cut for small ones.
  std::set<std::uint64_t> offsets;
  for (;;) {
    const ringbuf::Segment small = stock.take(Rung::kSmall);
    if (small.capacity == 0) break;
    EXPECT_TRUE(offsets.insert(small.offset).second);
    EXPECT_GE(small.offset, tops.back().offset);
    EXPECT_LT(small.offset, tops.back().offset + kTop);
  }
  EXPECT_EQ(offsets.size(), kTop / SegmentStock::kSmallBytes);
}

TEST(SegmentStock, NoSegmentHasTwoOwners) {
  SegmentStock stock;
  ASSERT_TRUE(stock.reserve(1 << 20, kTop));
  std::atomic<int> clashes{0};
  std::vector<std::atomic<int>> owners((1 << 20) / SegmentStock::kSmallBytes);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const ringbuf::Segment segment = stock.take(Rung::kSmall);
        if (segment.capacity == 0) continue;
        auto& owner = owners[segment.offset / SegmentStock::kSmallBytes];
        if (owner.fetch_add(1) != 0) ++clashes;
        owner.fetch_sub(1);
        stock.give(segment);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
  EXPECT_EQ(stock.used_bytes(), 0u);
}

// However many there are.
TEST(SegmentStock, FreeSegmentsGiveTheirMemoryBack) {
  SegmentStock stock;
  ASSERT_TRUE(stock.reserve(2 << 20, kTop));
  std::vector<ringbuf::Segment> held;
  for (int i = 0; i < 200; ++i) {
    held.push_back(stock.take(Rung::kSmall));
    held.back().slots[0].word0 = 1;
  }
  const ringbuf::Segment kept = held.back();
  held.pop_back();
  for (const ringbuf::Segment& segment : held) stock.give(segment);
  stock.release_free();
  EXPECT_EQ(stock.free_count(Rung::kSmall), 199u);
  for (const ringbuf::Segment& segment : held)
    EXPECT_EQ(segment.slots[0].word0, 0u);
  EXPECT_EQ(kept.slots[0].word0, 1u);
}

TEST(CategoryFilter, SaysWhatPasses) {
  const auto passes = [](const char* filter, const char* category) {
    const Result<CategoryFilter> parsed = CategoryFilter::parse(filter);
    EXPECT_TRUE(parsed.ok()) << filter;
    return parsed.ok() && parsed->passes(category);
  };
  EXPECT_TRUE(passes("", "net"));
  EXPECT_TRUE(passes("net", "net"));
  EXPECT_FALSE(passes("net", "db"));
  EXPECT_FALSE(passes("net", "network"));
  EXPECT_TRUE(passes("-db", "net"));
  EXPECT_FALSE(passes("-db", "db"));
  EXPECT_TRUE(passes(" net , -db ", "net"));
  EXPECT_FALSE(passes("net,-db", "other"));
  EXPECT_TRUE(passes("default", ""));
  EXPECT_FALSE(passes("-default", ""));
}

TEST(CategoryFilter, CategoriesWithAPlusAreForWhoNamesThem) {
  const auto filter = [](const char* text) {
    return CategoryFilter::parse(text).value();
  };
  EXPECT_FALSE(filter("").passes("+memory"));
  EXPECT_FALSE(filter("-net").passes("+memory"));
  EXPECT_FALSE(filter("net").passes("+memory"));
  EXPECT_TRUE(filter("+memory").passes("+memory"));
  EXPECT_TRUE(filter("+memory").passes("net")) << "it takes nothing away";
  EXPECT_FALSE(filter("+memory,db").passes("net"));
  EXPECT_FALSE(filter("+memory").passes("+modules"));
  EXPECT_TRUE(filter("db,+memory").names_extra());
  EXPECT_FALSE(filter("-+memory").names_extra());
  EXPECT_FALSE(filter("db").names_extra());
}

TEST(CategoryFilter, RefusesEmptyNamesAndTooMany) {
  for (const char* wrong : {",", "net,", ",net", "-", "net, -"})
    EXPECT_FALSE(CategoryFilter::parse(wrong).ok()) << wrong;
  std::string many = "c";
  for (std::size_t i = 1; i < CategoryFilter::kMaxNames; ++i) many += ",c";
  EXPECT_TRUE(CategoryFilter::parse(many).ok());
  many += ",c";
  const auto refused = CategoryFilter::parse(many);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("64"), std::string::npos);
}

TEST(SiteTable, ASiteIsCopiedAtItsFirstRecord) {
  StringTable strings;
  ASSERT_TRUE(strings.reserve(1 << 20));
  SiteTable sites(strings);
  ASSERT_TRUE(sites.reserve());
  internal::SiteData site(SiteKind::kSpan, "name", "category", "file.cc", 12,
                          nullptr);
  const Argument arguments[] = {Argument("bytes", 1), Argument(),
                                Argument("text", "x")};
  ASSERT_TRUE(sites.publish(site, arguments, 3));
  ASSERT_TRUE(sites.publish(site, nullptr, 0));  // once is enough
  EXPECT_EQ(sites.end(), 2u);
  SiteInfo info;
  ASSERT_TRUE(sites.info(SiteId{1}, &info));
  EXPECT_EQ(text_of(strings, info.name), "name");
  EXPECT_EQ(text_of(strings, info.category), "category");
  EXPECT_EQ(text_of(strings, info.file), "file.cc");
  EXPECT_EQ(info.line, 12u);
  ASSERT_EQ(info.argument_count, 2u);
  EXPECT_EQ(text_of(strings, info.arguments[1].key), "text");
  EXPECT_EQ(info.arguments[1].type, RecordKind::kText);
  EXPECT_FALSE(sites.info(SiteId::kNone, &info));
  EXPECT_FALSE(sites.info(SiteId{2}, &info));
}

// Whoever comes first, the switch or the site: both end in the same state.
TEST(SiteList, SitesThatRegisterWhileTheSwitchTurnsEndInItsState) {
  for (int round = 0; round < 50; ++round) {
    SiteList list;
    std::vector<std::unique_ptr<internal::SiteData>> sites;
    for (int i = 0; i < 100; ++i)
      sites.push_back(std::make_unique<internal::SiteData>(
          SiteKind::kSpan, "name", "", "file.cc", 1u, nullptr));
    std::thread registers([&] {
      for (const auto& site : sites) list.add(*site);
    });
    for (int i = 0; i < 5; ++i) {
      auto wanted = std::make_unique<SiteSwitch>();
      wanted->on = i % 2 == 0;
      wanted->filters.emplace_back();
      list.turn(std::move(wanted));
    }
    registers.join();
    for (const auto& site : sites)
      EXPECT_EQ(site->state.load(), internal::kSiteSlow);
  }
}

}  // namespace
}  // namespace weft
