// SPDX-License-Identifier: Apache-2.0
#include "slowest_roots.h"

#include <algorithm>
#include <tuple>

namespace weft::tools {
namespace {

// Equally long ones in the order of their begins, so that every run agrees.
bool is_longer(const PairedSpan& a, const PairedSpan& b) noexcept {
  return std::tuple(b.duration_ns(), a.begin_ns, a.line, a.position) <
         std::tuple(a.duration_ns(), b.begin_ns, b.line, b.position);
}

}  // namespace

std::vector<SlowestRoots::Longest>& SlowestRoots::places_of(LineKey line) {
  if (last_places_ == nullptr || line != last_line_) {
    last_places_ = &places_[line];
    last_line_ = line;
  }
  return *last_places_;
}

void SlowestRoots::add_to(Longest* longest, const PairedSpan& span) const {
  if (longest->size() == count_) {
    if (!is_longer(span, longest->front())) return;
    std::pop_heap(longest->begin(), longest->end(), is_longer);
    longest->back() = span;
  } else {
    longest->push_back(span);
  }
  std::push_heap(longest->begin(), longest->end(), is_longer);
}

void SlowestRoots::add(const PairedSpan& span) {
  std::vector<Longest>& places = places_of(span.line);
  if (span.depth + 1 < places.size()) places[span.depth + 1].clear();
  if (span.request != 0) return;
  if (places.size() <= span.depth) places.resize(span.depth + 1);
  add_to(&places[span.depth], span);
}

void SlowestRoots::left_stack(LineKey line, std::size_t depth) {
  std::vector<Longest>& places = places_of(line);
  if (depth + 1 >= places.size()) return;
  for (const PairedSpan& span : places[depth + 1])
    add_to(&places[depth], span);
  places.erase(places.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
}

std::vector<PairedSpan> SlowestRoots::take() {
  Longest all;
  for (const auto& [line, places] : places_)
    for (const Longest& longest : places)
      for (const PairedSpan& span : longest) add_to(&all, span);
  std::sort(all.begin(), all.end(), is_longer);
  return all;
}

}  // namespace weft::tools
