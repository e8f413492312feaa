// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_EXPORT_SLOT_BUILDER_H_
#define WEFT_TESTS_EXPORT_SLOT_BUILDER_H_

// Writes the slots of one thread as an instrumented thread would.
//
//   SlotBuilder slots(ThreadIndex{1});
//   const auto outer = slots.begin(100, SiteId{1});
//   slots.int64(0, 42);                 // an argument of it
//   slots.end(180, outer);
//   exporter.consume(slots.run());

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "weft/exporter.h"
#include "weft/record.h"

namespace weft::test {

struct OpenSpan {
  std::uint64_t position = 0;
  SiteId site = SiteId::kNone;
};

class SlotBuilder {
 public:
  explicit SlotBuilder(ThreadIndex thread, std::uint64_t position = 0)
      : thread_(thread), first_(position) {}

  // Of the next slot.
  std::uint64_t position() const { return first_ + slots_.size(); }
  const std::vector<Slot>& slots() const { return slots_; }
  std::uint64_t records() const {
    return static_cast<std::uint64_t>(
        std::count_if(slots_.begin(), slots_.end(),
                      [](const Slot& s) { return !is_continuation(s); }));
  }

  OpenSpan begin(Ticks tick, SiteId site, StringId name = StringId::kNone,
                 std::uint8_t flags = 0) {
    const OpenSpan span{position(), site};
    head(RecordKind::kSpanBegin, tick, word(name, site), flags);
    return span;
  }
  void end(Ticks tick, OpenSpan span, std::uint8_t flags = 0) {
    head(RecordKind::kSpanEnd, tick,
         pair_word(static_cast<std::uint32_t>(span.position),
                   static_cast<std::uint32_t>(span.site)),
         flags);
  }
  void instant(Ticks tick, SiteId site, StringId name = StringId::kNone) {
    head(RecordKind::kInstant, tick, word(name, site));
  }
  void counter(Ticks tick, SiteId site, double value) {
    head(RecordKind::kCounter, tick, word(StringId::kNone, site));
    real(0, value);
  }
  void flow_out(Ticks tick, SiteId site, std::uint64_t id,
                std::uint8_t flags = 0) {
    head(RecordKind::kFlowOut, tick, word(StringId::kNone, site), flags);
    uint64(0, id);
  }
  void flow_in(Ticks tick, SiteId site, std::uint64_t id,
               std::uint8_t flags = 0) {
    head(RecordKind::kFlowIn, tick, word(StringId::kNone, site), flags);
    uint64(0, id);
  }
  // Returns its id.
  std::uint64_t async_begin(Ticks tick, SiteId site) {
    const std::uint64_t id = async_id(thread_, position());
    head(RecordKind::kAsyncBegin, tick, word(StringId::kNone, site));
    return id;
  }
  void async_end(Ticks tick, SiteId site, std::uint64_t id) {
    head(RecordKind::kAsyncEnd, tick, word(StringId::kNone, site));
    uint64(0, id);
  }
  void late_argument(Ticks tick, OpenSpan span, StringId key,
                     std::int64_t value) {
    head(RecordKind::kArgument, tick,
         pair_word(static_cast<std::uint32_t>(span.position),
                   static_cast<std::uint32_t>(key)));
    int64(0, value);
  }
  void failure(Ticks tick, OpenSpan span, StringId reason) {
    head(RecordKind::kFailure, tick,
         pair_word(static_cast<std::uint32_t>(span.position),
                   static_cast<std::uint32_t>(reason)));
  }
  void context(Ticks tick, const std::vector<std::uint64_t>& words) {
    head(RecordKind::kContext, tick, words.size());
    for (std::size_t i = 0; i < words.size(); ++i)
      uint64(static_cast<std::uint8_t>(i), words[i]);
  }
  void step(Ticks tick, SiteId site, std::uint64_t number) {
    head(RecordKind::kStep, tick, word(StringId::kNone, site));
    uint64(0, number);
  }
  void launch(Ticks tick, std::uint32_t call, std::uint64_t correlation) {
    head(RecordKind::kLaunch, tick,
         pair_word(call, static_cast<std::uint32_t>(correlation)));
    if (correlation >> 32 != 0) uint64(0, correlation);
  }
  void loss(Ticks tick, DropReason reason, std::uint32_t count) {
    head(RecordKind::kLoss, tick,
         pair_word(static_cast<std::uint32_t>(reason), count));
  }
  void clock_change(Ticks tick) {
    head(RecordKind::kClockChange, tick, 0, kFlagMonotonic);
  }

  // Arguments of the newest record.
  void int64(std::uint8_t index, std::int64_t value) {
    more(RecordKind::kInt64, index, std::bit_cast<std::uint64_t>(value));
  }
  void uint64(std::uint8_t index, std::uint64_t value) {
    more(RecordKind::kUint64, index, value);
  }
  void real(std::uint8_t index, double value) {
    more(RecordKind::kDouble, index, std::bit_cast<std::uint64_t>(value));
  }
  void boolean(std::uint8_t index, bool value) {
    more(RecordKind::kBool, index, value ? 1 : 0);
  }
  void string_id(std::uint8_t index, StringId value) {
    more(RecordKind::kStringId, index, static_cast<std::uint32_t>(value));
  }
  // `full_length`, if not 0: how long it was before it was cut to `text`.
  void text(std::uint8_t index, std::string_view text,
            std::uint64_t full_length = 0) {
    std::uint64_t start = 0;
    const std::size_t head_bytes = std::min<std::size_t>(text.size(), 8);
    if (head_bytes != 0) std::memcpy(&start, text.data(), head_bytes);
    more(RecordKind::kText, index, start,
         full_length == 0 ? text.size() : full_length);
    text.remove_prefix(head_bytes);
    rest_of_text(index, text);
  }
  // What pack_text() made of a text.
  void packed_text(std::uint8_t index, std::string_view bytes) {
    std::uint64_t start = 0;
    std::uint32_t more_bytes = 0;
    const std::size_t head_bytes = std::min<std::size_t>(bytes.size(), 12);
    std::memcpy(&start, bytes.data(), std::min<std::size_t>(head_bytes, 8));
    if (head_bytes > 8)
      std::memcpy(&more_bytes, bytes.data() + 8, head_bytes - 8);
    more(RecordKind::kPackedText, index, start,
         std::uint64_t{more_bytes} << 16 | bytes.size());
    rest_of_text(index, bytes.substr(head_bytes));
  }
  void rest_of_text(std::uint8_t index, std::string_view text) {
    while (!text.empty()) {
      unsigned char bytes[14] = {};
      const std::size_t taken = std::min<std::size_t>(text.size(), 14);
      std::memcpy(bytes, text.data(), taken);
      std::uint64_t payload = 0;
      std::uint64_t word1 = 0;
      std::memcpy(&payload, bytes, 6);
      std::memcpy(&word1, bytes + 6, 8);
      more(RecordKind::kTextMore, index, word1, payload);
      text.remove_prefix(taken);
    }
  }

  void head(RecordKind kind, Ticks tick, std::uint64_t word1,
            std::uint8_t flags = 0) {
    slots_.push_back({head_word(kind, flags, tick), word1});
    newest_ = std::max(newest_, tick);
  }
  void more(RecordKind kind, std::uint8_t index, std::uint64_t word1,
            std::uint64_t payload = 0) {
    slots_.push_back({payload << 16 | std::uint64_t{index} << 8 |
                          static_cast<std::uint64_t>(kind),
                      word1});
  }

  // All slots as one run; valid until the next one is added. `wrap_at` splits
  // it as the end of a ring would.
  Run run(std::uint64_t skipped = 0,
          std::size_t wrap_at = static_cast<std::size_t>(-1)) const {
    const std::size_t split = std::min(wrap_at, slots_.size());
    Run result;
    result.thread = thread_;
    result.position = first_;
    result.skipped = skipped;
    result.first = slots_.data();
    result.first_count = static_cast<std::uint32_t>(split);
    result.second = slots_.data() + split;
    result.second_count = static_cast<std::uint32_t>(slots_.size() - split);
    result.reference = newest_;
    return result;
  }
  // Forgets the slots, as if they had been drained; positions go on.
  void drained() {
    first_ = position();
    slots_.clear();
  }
  // As drained(), but `slots` more are missing: refused, or filtered.
  void jump(std::uint64_t slots) {
    drained();
    first_ += slots;
  }

 private:
  static std::uint64_t word(StringId name, SiteId site) {
    return pair_word(static_cast<std::uint32_t>(name),
                     static_cast<std::uint32_t>(site));
  }

  ThreadIndex thread_;
  std::uint64_t first_;
  Ticks newest_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace weft::test

#endif  // WEFT_TESTS_EXPORT_SLOT_BUILDER_H_
