// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_STRING_TABLE_H_
#define WEFT_SRC_STRING_TABLE_H_

// Text to ids, by content: equal text has one id, from anywhere in the process.
//
//   index   [ id | 0 | 0 | id | ... ]      open addressing, by hash
//              |             \             |
//   entries  [ -, other, e2, e3, ... )     hash, length, where the text lies
//                           \              |
//   text     [ ...........bytes......... ) bump-allocated, never freed
//
// Nothing waits for anything, so a signal handler may intern while it
// interrupts another intern of its own thread. An entry is filled in before its
// id is put into the index by compare-exchange; who loses that race to equal
// text uses the winner's id and abandons an entry nobody has seen.
//
// The memory is bounded. When entries or text run out, new text gets the id
// StringId::kOtherNames and is counted.
//
// Memory order. [S] An index slot: release by who fills it, acquire by readers;
// the entry and its text are complete before the id can be found. An entry's
// `ready` does the same for readers that walk by id.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weft/record.h"
#include "weft/ringbuf/ring_memory.h"

namespace weft {

class StringTable {
 public:
  // Text beyond this is cut. Names of a template instantiation reach some
  // kilobytes; 64 KiB is beyond any that is meant to be read.
  static constexpr std::size_t kMaxTextBytes = 64 << 10;

  // False when the address space cannot be had. `bytes` bounds everything.
  bool reserve(std::size_t bytes) noexcept;

  // The id of `text`, copied if it is new. Thread-safe, async-signal-safe.
  StringId intern(std::string_view text) noexcept;

  // One past the last id that may be readable.
  std::uint32_t end() const noexcept;
  // False while the entry is being filled, for good if it was abandoned.
  bool text(StringId id, std::string_view* text) const noexcept;

  // Calls that found no room.
  std::uint64_t refused() const noexcept {
    return refused_.load(std::memory_order_relaxed);  // a count of its own
  }

 private:
  struct Entry {
    std::uint64_t hash;
    std::uint32_t offset;
    std::uint32_t bytes;
    std::atomic<std::uint32_t> ready;
  };

  StringId add(std::string_view text, std::uint64_t hash) noexcept;
  bool equals(std::uint32_t id, std::string_view text,
              std::uint64_t hash) const noexcept;

  ringbuf::RingMemory memory_;
  std::atomic<std::uint32_t>* index_ = nullptr;
  Entry* entries_ = nullptr;
  char* text_ = nullptr;
  std::uint32_t index_mask_ = 0;
  std::uint32_t max_entries_ = 0;
  std::uint32_t max_text_ = 0;
  std::atomic<std::uint32_t> next_entry_{0};
  std::atomic<std::uint64_t> next_text_{0};
  std::atomic<std::uint64_t> refused_{0};
};

}  // namespace weft

#endif  // WEFT_SRC_STRING_TABLE_H_
