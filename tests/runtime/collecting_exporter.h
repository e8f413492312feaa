// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_RUNTIME_COLLECTING_EXPORTER_H_
#define WEFT_TESTS_RUNTIME_COLLECTING_EXPORTER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "weft/catalog.h"
#include "weft/exporter.h"
#include "weft/record.h"

namespace weft::test {

// Keeps what a subscription delivers, per thread, and notes in problems()
// whatever breaks the contract of exporter.h: positions that do not join up,
// ids that were not defined before their use, times that go back, records cut
// in half.
//
// Read it after the subscription has stopped.
class CollectingExporter final : public Exporter {
 public:
  struct Record {
    RecordKind kind = RecordKind::kNone;
    std::uint8_t flags = 0;
    Ticks tick = 0;
    std::uint64_t position = 0;
    std::uint64_t word1 = 0;
    std::vector<Slot> values;  // its continuations

    std::uint32_t high() const { return static_cast<std::uint32_t>(word1 >> 32); }
    std::uint32_t low() const { return static_cast<std::uint32_t>(word1); }
  };
  struct Thread {
    std::vector<Record> records;  // without loss marks
    std::uint64_t heads = 0;      // how many those are, also when not kept
    std::uint64_t marked = 0;     // records that loss marks tell of
    std::uint64_t told = 0;       // records that lose() told of
    // Stretches that were skipped or lost: [first, second).
    std::vector<std::pair<std::uint64_t, std::uint64_t>> holes;
    std::uint64_t next = 0;       // position after the last run
    Ticks last_tick = 0;
    bool started = false;
    ThreadInfo info;
  };
  enum class Keep { kRecords, kCounts };

  explicit CollectingExporter(Keep keep = Keep::kRecords) : keep_(keep) {}

  // While set, every run is refused.
  void refuse(bool refused) { refusing_.store(refused); }

  const std::map<std::uint32_t, Thread>& threads() const { return threads_; }
  // Records written beside the threads' own rings, in their order.
  const std::vector<std::pair<std::uint32_t, Record>>& side() const {
    return side_;
  }
  const std::vector<std::string>& problems() const { return problems_; }
  const SubscriptionInfo& info() const { return info_; }
  const ProcessInfo& process() const { return process_; }
  const SubscriptionEnd& result() const { return end_; }
  bool ended() const { return ended_; }
  const std::map<std::uint32_t, std::string>& strings() const {
    return strings_;
  }
  const std::map<std::uint32_t, SiteInfo>& sites() const { return sites_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const {
    return metadata_;
  }
  std::uint64_t anchors() const { return anchors_; }

  std::uint64_t heads() const {
    std::uint64_t sum = side_heads_;
    for (const auto& [index, thread] : threads_) sum += thread.heads;
    return sum;
  }
  std::uint64_t marked() const {
    std::uint64_t sum = 0;
    for (const auto& [index, thread] : threads_) sum += thread.marked;
    return sum;
  }
  std::uint64_t told(DropReason reason) const {
    return told_[static_cast<std::size_t>(reason)];
  }
  // Everything of every thread that is in no run, by the final accounts.
  std::uint64_t dropped() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : end_.dropped) sum += count;
    return sum;
  }
  std::string text(StringId id) const {
    const auto found = strings_.find(static_cast<std::uint32_t>(id));
    return found == strings_.end() ? std::string() : found->second;
  }
  std::string name_of(const Record& record) const {
    if (record.high() != 0 && record.kind != RecordKind::kSpanEnd)
      return text(static_cast<StringId>(record.high()));
    const auto site = sites_.find(record.low());
    return site == sites_.end() ? std::string() : text(site->second.name);
  }
  std::string thread_name(const Thread& thread) const {
    return text(thread.info.name);
  }
  std::uint64_t count(RecordKind kind) const {
    std::uint64_t sum = 0;
    for (const auto& [index, thread] : threads_)
      for (const Record& record : thread.records) sum += record.kind == kind;
    for (const auto& [index, record] : side_) sum += record.kind == kind;
    return sum;
  }

  void begin(const ProcessInfo& process,
             const SubscriptionInfo& subscription) override {
    process_ = process;
    info_ = subscription;
    if (std::exchange(begun_, true)) problem("begin twice");
  }

  void define(const Catalog& catalog) override {
    for (; next_string_ < catalog.string_end(); ++next_string_)
      waiting_strings_.push_back(next_string_);
    std::erase_if(waiting_strings_, [&](std::uint32_t id) {
      std::string_view text;
      if (!catalog.string(static_cast<StringId>(id), &text)) return false;
      strings_.emplace(id, text);
      return true;
    });
    for (; next_site_ < catalog.site_end(); ++next_site_)
      waiting_sites_.push_back(next_site_);
    std::erase_if(waiting_sites_, [&](std::uint32_t id) {
      SiteInfo info;
      if (!catalog.site(static_cast<SiteId>(id), &info)) return false;
      sites_.emplace(id, info);
      return true;
    });
    ThreadInfo thread;
    while (catalog.next_thread(&cursor_, &thread))
      threads_[static_cast<std::uint32_t>(thread.index)].info = thread;
    for (; next_metadata_ < catalog.metadata_end(); ++next_metadata_) {
      const auto [key, value] = catalog.metadata(next_metadata_);
      metadata_.emplace_back(text(key), text(value));
    }
  }

  bool consume(const Run& run) override {
    if (!begun_ || ended_) problem("consume outside of begin and end");
    const bool side = (run.position & kSidePosition) != 0;
    const auto index = static_cast<std::uint32_t>(run.thread);
    const auto known = threads_.find(index);
    if (known == threads_.end() ||
        known->second.info.index == ThreadIndex::kNone)
      problem("a run of a thread that was not announced");
    Thread& thread = threads_[index];
    const std::uint32_t size = run.first_count + run.second_count;
    if (size == 0) problem("an empty run");
    if (side) {
      if (run.position < next_side_) problem("side positions go back");
      next_side_ = run.position + size;
    } else {
      advance(thread, run.position, run.skipped);
      thread.next = run.position + size;
    }
    if (refusing_.load()) {
      refused_ = true;
      if (!side) thread.holes.emplace_back(run.position, thread.next);
      return false;
    }
    for (std::uint32_t i = 0; i < size; ++i)
      take(side, index, thread, run, i,
           i < run.first_count ? run.first[i] : run.second[i - run.first_count]);
    return true;
  }

  void lose(const Loss& loss) override {
    const auto reason = static_cast<std::size_t>(loss.reason);
    if (reason == 0 || reason >= kDropReasons) problem("a loss without reason");
    told_[reason] += loss.records;
    threads_[static_cast<std::uint32_t>(loss.thread)].told += loss.records;
    if (std::exchange(refused_, false) &&
        loss.reason != DropReason::kSlowSink)
      problem("a refused run is lost for another reason");
  }

  void anchor(const ClockAnchor&) override { ++anchors_; }
  void settle(std::int64_t) override {}
  void end(const SubscriptionEnd& end) override {
    if (std::exchange(ended_, true)) problem("end twice");
    end_ = end;
    // Left are those that recorded.
    std::erase_if(threads_, [](const auto& entry) {
      const Thread& thread = entry.second;
      return thread.heads + thread.marked + thread.told == 0;
    });
  }
  bool has_work() const noexcept override { return false; }
  bool work() override { return false; }
  ExporterStatus status() const override {
    ExporterStatus status;
    status.bytes_pending = slots_.load() * sizeof(Slot);
    return status;
  }

 private:
  void problem(std::string what) {
    if (problems_.size() < 20) problems_.push_back(std::move(what));
  }

  void advance(Thread& thread, std::uint64_t position, std::uint64_t skipped) {
    if (!std::exchange(thread.started, true)) {
      if (skipped > position) problem("skipped more than there was");
      thread.next = position - skipped;
    }
    if (thread.next + skipped != position)
      problem("thread " +
              std::to_string(static_cast<std::uint32_t>(thread.info.index)) +
              ": a run at " + std::to_string(position) + " after " +
              std::to_string(thread.next) + " + " + std::to_string(skipped));
    if (skipped != 0) thread.holes.emplace_back(position - skipped, position);
  }

  void take(bool side, std::uint32_t index, Thread& thread, const Run& run,
            std::uint32_t at, const Slot& slot) {
    // Relaxed: only this thread adds.
    slots_.store(slots_.load(std::memory_order_relaxed) + 1);
    if (is_continuation(slot)) {
      if (at == 0) problem("a run begins with a continuation");
      if (last_ != nullptr) last_->values.push_back(slot);
      return;
    }
    Record record;
    record.kind = kind_of(slot);
    record.flags = flags_of(slot);
    record.tick = unwrap_tick(payload_of(slot), run.reference);
    record.position = run.position + at;
    record.word1 = slot.word1;
    last_ = nullptr;
    if (!side && record.tick < thread.last_tick) problem("time goes back");
    if (!side) thread.last_tick = record.tick;
    if (record.kind == RecordKind::kLoss) {
      thread.marked += record.low();
      return;
    }
    check_ids(record);
    (side ? side_heads_ : thread.heads) += 1;
    if (keep_ == Keep::kCounts) return;
    if (side) {
      side_.emplace_back(index, std::move(record));
      last_ = &side_.back().second;
    } else {
      thread.records.push_back(std::move(record));
      last_ = &thread.records.back();
    }
  }

  void check_ids(const Record& record) {
    switch (record.kind) {
      case RecordKind::kSpanBegin:
      case RecordKind::kInstant:
      case RecordKind::kAsyncBegin:
        if (record.high() != 0 && !strings_.contains(record.high()))
          problem("an undefined name");
        [[fallthrough]];
      case RecordKind::kSpanEnd:
      case RecordKind::kCounter:
      case RecordKind::kFlowOut:
      case RecordKind::kFlowIn:
      case RecordKind::kStep:
        if (!sites_.contains(record.low())) problem("an undefined site");
        break;
      case RecordKind::kArgument:
      case RecordKind::kFailure:
        if (!strings_.contains(record.low())) problem("an undefined key");
        break;
      case RecordKind::kAsyncEnd:
      case RecordKind::kContext:
      case RecordKind::kLaunch:
        break;
      default:
        problem("a record of kind " +
                std::to_string(static_cast<unsigned>(record.kind)));
    }
  }

  const Keep keep_;
  std::atomic<bool> refusing_{false};
  std::atomic<std::uint64_t> slots_{0};
  bool begun_ = false;
  bool ended_ = false;
  bool refused_ = false;  // a run, whose loss was not told yet
  ProcessInfo process_;
  SubscriptionInfo info_;
  SubscriptionEnd end_;
  std::uint32_t next_string_ = 1;
  std::uint32_t next_site_ = 1;
  std::uint32_t next_metadata_ = 0;
  std::uint64_t cursor_ = 0;
  std::vector<std::uint32_t> waiting_strings_;
  std::vector<std::uint32_t> waiting_sites_;
  std::map<std::uint32_t, std::string> strings_;
  std::map<std::uint32_t, SiteInfo> sites_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::map<std::uint32_t, Thread> threads_;
  std::vector<std::pair<std::uint32_t, Record>> side_;
  std::uint64_t side_heads_ = 0;
  std::uint64_t next_side_ = 0;
  std::uint64_t told_[kDropReasons] = {};
  std::uint64_t anchors_ = 0;
  Record* last_ = nullptr;
  std::vector<std::string> problems_;
};

}  // namespace weft::test

#endif  // WEFT_TESTS_RUNTIME_COLLECTING_EXPORTER_H_
