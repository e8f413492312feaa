// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_TOOLS_RECORD_STREAM_H_
#define WEFT_TESTS_TOOLS_RECORD_STREAM_H_

// Records made by hand, with the trace they belong to. Times are ns.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "weft/export/trace_reader.h"

namespace weft::tools {

class RecordStream {
 public:
  // Counts as threads of their own kind of position: signal handlers.
  enum class Where { kThread, kSide };

  RecordStream() {
    info.strings.resize(2);
    info.sites.resize(1);
    info.complete = true;
  }

  StringId string(const std::string& text) {
    for (std::size_t i = 1; i < info.strings.size(); ++i)
      if (info.strings[i] == text) return static_cast<StringId>(i);
    info.strings.push_back(text);
    return static_cast<StringId>(info.strings.size() - 1);
  }

  SiteId site(const std::string& name, SiteKind kind = SiteKind::kSpan,
              const std::string& category = "",
              const std::vector<std::string>& keys = {}) {
    for (const SiteInfo& site : info.sites)
      if (site.kind == kind && site.name == string(name) &&
          site.category == string(category))
        return site.number;
    SiteInfo site;
    site.number = static_cast<SiteId>(info.sites.size());
    site.kind = kind;
    site.name = string(name);
    site.category = string(category);
    for (const std::string& key : keys)
      site.arguments[site.argument_count++].key = string(key);
    info.sites.push_back(site);
    return site.number;
  }

  // The thread of what is added next.
  RecordStream& on(std::uint32_t thread, Where where = Where::kThread) {
    thread_ = thread;
    where_ = where;
    return *this;
  }
  RecordStream& flags(std::uint8_t flags) {
    flags_ = flags;
    return *this;
  }

  // Each returns the position of its record.
  std::uint64_t begin(std::int64_t ns, const std::string& name,
                      const std::string& category = "") {
    return add(RecordKind::kSpanBegin, ns, site(name, SiteKind::kSpan, category));
  }
  std::uint64_t end(std::int64_t ns, std::uint64_t position,
                    const std::string& name) {
    const std::uint64_t at = add(RecordKind::kSpanEnd, ns, site(name));
    records.back().first.target = position;
    return at;
  }
  std::uint64_t end_of_thread(std::int64_t ns, std::uint32_t thread,
                              std::uint64_t position,
                              const std::string& name) {
    const std::uint64_t at = add(RecordKind::kAsyncEnd, ns, site(name));
    records.back().first.target =
        async_id(static_cast<ThreadIndex>(thread), position);
    return at;
  }
  std::uint64_t async_begin(std::int64_t ns, const std::string& name) {
    return add(RecordKind::kAsyncBegin, ns, site(name, SiteKind::kAsyncSpan));
  }
  std::uint64_t async_end(std::int64_t ns, std::uint32_t thread,
                          std::uint64_t position) {
    const std::uint64_t at = add(RecordKind::kAsyncEnd, ns, SiteId::kNone);
    records.back().first.target =
        async_id(static_cast<ThreadIndex>(thread), position);
    return at;
  }
  std::uint64_t failure(std::int64_t ns, std::uint64_t position,
                        const std::string& reason) {
    const std::uint64_t at = add(RecordKind::kFailure, ns, SiteId::kNone);
    records.back().first.target = position;
    records.back().first.key = string(reason);
    return at;
  }
  std::uint64_t argument(std::int64_t ns, std::uint64_t position,
                         const std::string& key, std::int64_t value) {
    const std::uint64_t at = add(RecordKind::kArgument, ns, SiteId::kNone);
    records.back().first.target = position;
    records.back().first.key = string(key);
    give_value(RecordKind::kInt64, static_cast<std::uint64_t>(value));
    return at;
  }
  std::uint64_t request(std::int64_t ns, std::uint64_t id) {
    const std::uint64_t at = add(RecordKind::kContext, ns, SiteId::kNone);
    if (id != 0) give_value(RecordKind::kUint64, id);
    records.back().first.target = id;
    return at;
  }
  std::uint64_t counter(std::int64_t ns, const std::string& name,
                        std::int64_t value) {
    const std::uint64_t at =
        add(RecordKind::kCounter, ns, site(name, SiteKind::kCounter));
    give_value(RecordKind::kInt64, static_cast<std::uint64_t>(value));
    return at;
  }
  std::uint64_t instant(std::int64_t ns, const std::string& name) {
    return add(RecordKind::kInstant, ns, site(name, SiteKind::kInstant));
  }
  // Records that are missing before the next one of this thread.
  void loss(std::uint64_t lost) {
    std::uint64_t& next = next_position();
    info.losses.push_back({static_cast<ThreadIndex>(thread_), next, lost,
                           DropReason::kRingFull});
  }

  template <class Consumer>
  void feed(Consumer& consumer) const {
    for (const auto& [record, ns] : records) consumer.add(record, ns);
    consumer.finish();
  }

  exporters::TraceInfo info;
  std::vector<std::pair<exporters::DecodedRecord, std::int64_t>> records;

 private:
  std::uint64_t& next_position() {
    const bool is_side = where_ == Where::kSide;
    const auto [next, is_new] =
        positions_.try_emplace({thread_, is_side}, is_side ? kSidePosition : 0);
    return next->second;
  }

  std::uint64_t add(RecordKind kind, std::int64_t ns, SiteId site) {
    exporters::DecodedRecord record;
    record.thread = static_cast<ThreadIndex>(thread_);
    record.position = next_position()++;
    record.kind = kind;
    record.flags = std::exchange(flags_, std::uint8_t{0});
    record.tick = static_cast<Ticks>(ns);
    record.site = site;
    record.slots = 1;
    records.emplace_back(record, ns);
    return record.position;
  }

  void give_value(RecordKind type, std::uint64_t bits) {
    exporters::DecodedValue value;
    value.type = type;
    value.bits = bits;
    values_.push_back(value);
    records.back().first.values = &values_.back();
    records.back().first.value_count = 1;
  }

  std::uint32_t thread_ = 1;
  Where where_ = Where::kThread;
  std::uint8_t flags_ = 0;
  std::map<std::pair<std::uint32_t, bool>, std::uint64_t> positions_;
  std::deque<exporters::DecodedValue> values_;  // addresses must not change
};

}  // namespace weft::tools

#endif  // WEFT_TESTS_TOOLS_RECORD_STREAM_H_
