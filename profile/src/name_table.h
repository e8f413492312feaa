// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_NAME_TABLE_H_
#define WEFT_PROFILE_SRC_NAME_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace weft::profile {

// Gives equal texts one number, counted from 0 in the order of appearance.
class NameTable {
 public:
  NameTable() : slots_(kFirstSlots, kFree) {}

  std::uint32_t number_of(std::string_view text) {
    const std::size_t hash = std::hash<std::string_view>{}(text);
    std::size_t slot = hash & (slots_.size() - 1);
    for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
      const Name& name = names_[slots_[slot]];
      if (name.hash == hash && name.text == text) return slots_[slot];
    }
    const auto number = static_cast<std::uint32_t>(names_.size());
    names_.push_back({std::string(text), hash});
    slots_[slot] = number;
    if (names_.size() * 2 > slots_.size()) grow();
    return number;
  }

  const std::string& text(std::uint32_t number) const {
    return names_[number].text;
  }
  std::size_t size() const noexcept { return names_.size(); }

 private:
  static constexpr std::size_t kFirstSlots = 1024;  // 2^n
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};

  struct Name {
    std::string text;
    std::size_t hash;
  };

  void grow() {
    std::vector<std::uint32_t> slots(slots_.size() * 2, kFree);
    for (std::uint32_t number = 0; number < names_.size(); ++number) {
      std::size_t slot = names_[number].hash & (slots.size() - 1);
      while (slots[slot] != kFree) slot = (slot + 1) & (slots.size() - 1);
      slots[slot] = number;
    }
    slots_ = std::move(slots);
  }

  std::deque<Name> names_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_NAME_TABLE_H_
