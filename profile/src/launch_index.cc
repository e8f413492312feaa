// SPDX-License-Identifier: Apache-2.0
#include "launch_index.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace weft::profile {
namespace {

constexpr unsigned kFamilyShift = 24;  // of the launch word

bool same_key(const LaunchIndex::Entry& a, const LaunchIndex::Entry& b) {
  return a.correlation == b.correlation && a.family == b.family;
}

}  // namespace

LaunchIndex::LaunchIndex(const std::vector<Launch>& launches) {
  entries_.reserve(launches.size());
  for (const Launch& launch : launches)
    entries_.push_back(
        {launch.correlation, &launch, launch.call >> kFamilyShift});
  // Where all else is equal the order in which they were recorded decides.
  const auto key = [](const Entry& entry) {
    return std::tuple(entry.correlation, entry.family, entry.launch->ns,
                      entry.launch);
  };
  std::sort(entries_.begin(), entries_.end(),
            [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  const std::size_t slots = std::bit_ceil(entries_.size() * 2 + 2);
  table_.resize(slots);
  shift_ = 64u - static_cast<unsigned>(std::countr_zero(slots));
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (i > 0 && same_key(entries_[i - 1], entries_[i])) continue;
    std::size_t slot = slot_of(entries_[i].family, entries_[i].correlation);
    while (table_[slot] != 0) slot = (slot + 1) & (slots - 1);
    table_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

std::size_t LaunchIndex::slot_of(std::uint32_t family,
                                 std::uint64_t correlation) const noexcept {
  return static_cast<std::size_t>(
      ((correlation ^ std::uint64_t{family} << 56) * 0x9e3779b97f4a7c15u) >>
      shift_);
}

LaunchIndex::Entry* LaunchIndex::find(std::uint32_t family,
                                      std::uint64_t correlation,
                                      std::int64_t ns) noexcept {
  const Entry wanted{correlation, nullptr, family};
  std::size_t slot = slot_of(family, correlation);
  while (table_[slot] != 0 && !same_key(entries_[table_[slot] - 1], wanted))
    slot = (slot + 1) & (table_.size() - 1);
  if (table_[slot] == 0) return nullptr;
  Entry* found = &entries_[table_[slot] - 1];
  Entry* const end = entries_.data() + entries_.size();
  if (found + 1 == end || !same_key(found[1], wanted)) return found;
  Entry* const after =
      std::partition_point(found + 1, end, [&](const Entry& entry) {
        return std::tuple(entry.correlation, entry.family, entry.launch->ns) <=
               std::tuple(correlation, family, ns);
      });
  return after - 1;
}

}  // namespace weft::profile
