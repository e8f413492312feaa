// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_RUNTIME_COLLECTION_H_
#define WEFT_TESTS_RUNTIME_COLLECTION_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/collecting_exporter.h"
#include "weft/subscription.h"

namespace weft::test {

inline SubscriptionOptions only(std::string categories) {
  SubscriptionOptions options;
  options.categories = std::move(categories);
  return options;
}

// A subscription into a CollectingExporter.
class Collection {
 public:
  using Keep = CollectingExporter::Keep;

  explicit Collection(SubscriptionOptions options = {},
                      Keep keep = Keep::kRecords)
      : exporter_(std::make_shared<CollectingExporter>(keep)) {
    Result<Subscription> begun = subscribe(std::move(options), exporter_);
    EXPECT_TRUE(begun.ok()) << begun.error().message;
    if (begun.ok()) subscription_ = std::move(*begun);
  }
  explicit Collection(Keep keep) : Collection(SubscriptionOptions(), keep) {}

  // Ends it; what was collected can be read from then on. A contract of
  // exporter.h that was broken fails the test.
  const CollectingExporter& stop() {
    const Result<SubscriptionEnd> end = subscription_.stop();
    EXPECT_TRUE(end.ok()) << end.error().message;
    EXPECT_TRUE(exporter_->ended());
    for (const std::string& problem : exporter_->problems())
      ADD_FAILURE() << problem;
    if (end.ok()) {
      EXPECT_EQ(end->delivered, exporter_->heads());
    }
    return *exporter_;
  }

  CollectingExporter& exporter() { return *exporter_; }

 private:
  std::shared_ptr<CollectingExporter> exporter_;
  Subscription subscription_;
};

// Runs `body(number)` on `count` threads at once and joins them.
inline void run_threads(unsigned count,
                        const std::function<void(unsigned)>& body) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (unsigned i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

// Checks of one thread's stream that ends follow their begins as they nested.
// A begin may be missing only where the stream has a hole or before its start,
// an end only behind the last record.
inline void expect_nested(const CollectingExporter& collected,
                          const CollectingExporter::Thread& thread) {
  std::vector<std::uint64_t> open;
  const std::uint64_t first =
      thread.records.empty() ? 0 : thread.records.front().position;
  for (const CollectingExporter::Record& record : thread.records) {
    if (record.kind == RecordKind::kSpanBegin) {
      open.push_back(record.position);
    } else if (record.kind == RecordKind::kSpanEnd) {
      const std::uint64_t begin =
          record.position -
          static_cast<std::uint32_t>(
              static_cast<std::uint32_t>(record.position) - record.high());
      if (!open.empty() && open.back() == begin) {
        open.pop_back();
        continue;
      }
      bool in_hole = begin < first;
      for (const auto& [from, to] : thread.holes)
        in_hole = in_hole || (begin >= from && begin < to);
      ASSERT_TRUE(in_hole) << collected.name_of(record) << ": the end at "
                           << record.position << " of a begin at " << begin
                           << " that is not the innermost one";
    }
  }
}

}  // namespace weft::test

#endif  // WEFT_TESTS_RUNTIME_COLLECTION_H_
