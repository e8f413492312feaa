// SPDX-License-Identifier: Apache-2.0
#include "string_table.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace weft {
namespace {

constexpr std::string_view kOtherNamesText = "(other names)";
constexpr std::uint32_t kFirstFree = 2;  // 0 is none, 1 the other names

}  // namespace

bool StringTable::reserve(std::size_t bytes) noexcept {
  // An average name has some 40 bytes of text; an entry 24 and, at half load, 8
  // of index.
  const auto entries =
      std::bit_floor(static_cast<std::uint32_t>(bytes / (40 + 24 + 8)));
  const std::size_t index_bytes = std::size_t{entries} * 2 * sizeof(*index_);
  const std::size_t entry_bytes = std::size_t{entries} * sizeof(Entry);
  if (entries < 2 * kFirstFree || !memory_.reserve(bytes, ringbuf::RingMemory::Use::kShared))
    return false;
  index_ = reinterpret_cast<std::atomic<std::uint32_t>*>(memory_.at(0));
  entries_ = reinterpret_cast<Entry*>(memory_.at(index_bytes));
  text_ = reinterpret_cast<char*>(memory_.at(index_bytes + entry_bytes));
  index_mask_ = entries * 2 - 1;
  max_entries_ = entries;
  max_text_ = static_cast<std::uint32_t>(bytes - index_bytes - entry_bytes);
  // Relaxed throughout: nobody else knows this table yet.
  next_entry_.store(kFirstFree, std::memory_order_relaxed);
  Entry& other = entries_[static_cast<std::uint32_t>(StringId::kOtherNames)];
  std::memcpy(text_, kOtherNamesText.data(), kOtherNamesText.size());
  other.bytes = static_cast<std::uint32_t>(kOtherNamesText.size());
  other.ready.store(1, std::memory_order_relaxed);
  next_text_.store(kOtherNamesText.size(), std::memory_order_relaxed);
  return true;
}

StringId StringTable::intern(std::string_view text) noexcept {
  text = text.substr(0, kMaxTextBytes);
  const std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  StringId added = StringId::kNone;
  // At most half of the index is ever filled, so a free slot ends the walk.
  for (auto at = static_cast<std::uint32_t>(hash);; ++at) {
    std::atomic<std::uint32_t>& slot = index_[at & index_mask_];
    std::uint32_t id = slot.load(std::memory_order_acquire);  // [S]
    if (id == 0) {
      if (added == StringId::kNone) added = add(text, hash);
      if (added == StringId::kOtherNames) return added;
      if (slot.compare_exchange_strong(id, static_cast<std::uint32_t>(added),
                                       std::memory_order_release,
                                       std::memory_order_acquire))  // [S]
        return added;
    }
    if (equals(id, text, hash)) return static_cast<StringId>(id);
  }
}

StringId StringTable::add(std::string_view text, std::uint64_t hash) noexcept {
  // Relaxed: the numbers alone are shared here; contents go with [S].
  std::uint32_t id = next_entry_.load(std::memory_order_relaxed);
  do {
    if (id >= max_entries_) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return StringId::kOtherNames;
    }
  } while (!next_entry_.compare_exchange_weak(id, id + 1,
                                              std::memory_order_relaxed));
  std::uint64_t offset = next_text_.load(std::memory_order_relaxed);
  do {
    if (offset + text.size() > max_text_) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return StringId::kOtherNames;  // the entry stays unused
    }
  } while (!next_text_.compare_exchange_weak(offset, offset + text.size(),
                                             std::memory_order_relaxed));
  Entry& entry = entries_[id];
  entry.hash = hash;
  entry.offset = static_cast<std::uint32_t>(offset);
  entry.bytes = static_cast<std::uint32_t>(text.size());
  if (!text.empty()) std::memcpy(text_ + offset, text.data(), text.size());
  entry.ready.store(1, std::memory_order_release);  // [S]
  return static_cast<StringId>(id);
}

bool StringTable::equals(std::uint32_t id, std::string_view text,
                         std::uint64_t hash) const noexcept {
  const Entry& entry = entries_[id];
  return entry.hash == hash && entry.bytes == text.size() &&
         (text.empty() ||
          std::memcmp(text_ + entry.offset, text.data(), text.size()) == 0);
}

std::uint32_t StringTable::end() const noexcept {
  // Acquire is not needed: text() checks each entry by [S].
  return next_entry_.load(std::memory_order_relaxed);
}

bool StringTable::text(StringId id, std::string_view* text) const noexcept {
  const auto number = static_cast<std::uint32_t>(id);
  if (number == 0 || number >= end()) return false;
  const Entry& entry = entries_[number];
  if (entry.ready.load(std::memory_order_acquire) == 0) return false;  // [S]
  *text = {text_ + entry.offset, entry.bytes};
  return true;
}

}  // namespace weft
