// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_FIRST_BY_ID_H_
#define WEFT_PROFILE_SRC_FIRST_BY_ID_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "name_table.h"

namespace weft::profile {

// Remembers the first value given with an id, which is mostly a number and may
// be any text.
class FirstById {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  FirstById() : slots_(kFirstSlots) {}

  void add(std::string_view id, std::uint32_t value) {
    if (id.empty()) return;
    Slot& slot = slot_of(key_of(id));
    if (slot.value != kNone) return;
    slot = {key_of(id), value};
    if (++used_ * 2 > slots_.size()) grow();
  }

  // kNone if the id was never added.
  std::uint32_t find(std::uint64_t key) { return slot_of(key).value; }

  // An id as a number; 0: there is none.
  std::uint64_t key_of(std::string_view id) {
    if (id.empty()) return 0;
    std::uint64_t number = 0;
    constexpr std::size_t kMostDigits = 18;
    bool digits = id.size() <= kMostDigits && (id[0] != '0' || id.size() == 1);
    for (std::size_t i = 0; digits && i < id.size(); ++i) {
      digits = id[i] >= '0' && id[i] <= '9';
      number = number * 10 + static_cast<std::uint64_t>(id[i] - '0');
    }
    if (digits) return number + 1;
    return kTextBit | texts_.number_of(id);
  }

 private:
  static constexpr std::size_t kFirstSlots = 1024;  // 2^n
  static constexpr std::uint64_t kTextBit = std::uint64_t{1} << 63;

  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = kNone;
  };

  // Its own, or the free one where it would go.
  Slot& slot_of(std::uint64_t key) {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15u;
    const std::size_t mask = slots_.size() - 1;
    auto at = static_cast<std::size_t>((key * kSpread) >> 32) & mask;
    while (slots_[at].value != kNone && slots_[at].key != key) {
      at = (at + 1) & mask;
    }
    return slots_[at];
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != kNone) slot_of(slot.key) = slot;
    }
  }

  NameTable texts_;
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_FIRST_BY_ID_H_
