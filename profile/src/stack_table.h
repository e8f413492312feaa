// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_STACK_TABLE_H_
#define WEFT_PROFILE_SRC_STACK_TABLE_H_

// From the hash of a stack's addresses to the id of its text, so that a stack
// that was seen before costs one look-up.
//
//   [ key | text ] [ 0 | 0 ] [ key | text ] ...     open addressing
//
// A place is claimed by compare-exchange on its key and then gets its text. Who
// meets a claimed place without text makes the text again: the table of strings
// gives equal text the same id. Nothing waits, so a signal handler may do all of
// this while it interrupts the same.
//
// Bounded: kPlaces stacks. When no place is near its hash, a stack is not kept
// and costs its text every time; the record is right all the same. Two stacks of
// one 64-bit hash would be taken for one another: with a full table, a chance of
// 1 in 10^10.
//
// A forked child, whose table of strings is its own, finds it empty.
//
// Memory order. [T] `text` is stored with release and loaded with acquire, after
// the string it names was published by the table of strings. Keys alone carry
// nothing.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/record.h"

namespace weft::profile {

class StackTable {
 public:
  static constexpr std::size_t kPlaces = std::size_t{1} << 16;  // 1 MiB
  static constexpr std::size_t kMaxProbes = 32;

  // False when there is no memory; the table then keeps nothing. Not
  // thread-safe. Cold.
  bool reserve() noexcept;

  // kNone: not known. Thread-safe, async-signal-safe. Hot.
  StringId find(std::uint64_t hash) const noexcept;
  // False: there was no place. Thread-safe, async-signal-safe.
  bool keep(std::uint64_t hash, StringId text) noexcept;

 private:
  struct Place {
    std::atomic<std::uint64_t> key;  // 0: free
    std::atomic<std::uint32_t> text;
  };
  static std::uint64_t key_of(std::uint64_t hash) noexcept {
    return hash == 0 ? 1 : hash;
  }

  Place* places_ = nullptr;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_STACK_TABLE_H_
