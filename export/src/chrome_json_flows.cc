// SPDX-License-Identifier: Apache-2.0
#include "chrome_json_flows.h"

#include <algorithm>

namespace weft::exporters {
namespace {

// Puts an end that is a little early behind its begin, so that one walk in
// this order finds what belongs together.
bool before(const FlowPoint& a, const FlowPoint& b) noexcept {
  if (a.ns != b.ns) return a.ns < b.ns;
  return a.is_out && !b.is_out;
}

}  // namespace

std::int64_t FlowTable::earliest_end(std::uint64_t id, std::int64_t ns) const {
  const auto found = open_.find(id);
  if (found == open_.end()) return ns;
  std::int64_t earliest = ns;
  for (const FlowPoint& point : found->second) {
    if (!point.is_out) continue;
    if (point.ns < ns) return ns;
    if (point.ns - ns <= kSkewNs) earliest = std::max(earliest, point.ns + 1);
  }
  return earliest;
}

void FlowTable::add(std::uint64_t id, const FlowPoint& point,
                    std::vector<SettledPoint>* settled) {
  const auto [entry, is_new] = open_.try_emplace(id);
  Points& points = entry->second;
  if (is_new) {
    order_.push_back(id);
    if (order_.size() > kMaxIds) {
      const auto oldest = open_.find(order_.front());
      settle(&oldest->second, settled);
      open_.erase(oldest);
      order_.pop_front();
    }
  }
  points.push_back(point);
  ++points_;
  const bool paired =
      settling_ == Settling::kFirstPair &&
      std::any_of(points.begin(), points.end(), [&](const FlowPoint& other) {
        return point.is_out ? !other.is_out && other.ns >= point.ns - kSkewNs
                            : other.is_out && point.ns >= other.ns - kSkewNs;
      });
  if (paired || points.size() >= kMaxPoints) settle(&points, settled);
}

void FlowTable::drain(std::vector<SettledPoint>* settled) {
  for (const std::uint64_t id : order_) settle(&open_.find(id)->second, settled);
  open_.clear();
  order_.clear();
}

void FlowTable::settle(Points* points, std::vector<SettledPoint>* settled) {
  std::stable_sort(points->begin(), points->end(), before);
  // An end of the first begin that stands a little before it.
  const auto begin = std::find_if(points->begin(), points->end(),
                                  [](const FlowPoint& p) { return p.is_out; });
  if (begin != points->begin() && begin != points->end() &&
      begin->ns - (begin - 1)->ns <= kSkewNs)
    std::swap(*(begin - 1), *begin);

  for (std::size_t i = 0; i < points->size();) {
    const FlowPoint& first = (*points)[i];
    std::size_t last = i;  // of the ends that follow `first`
    while (first.is_out && last + 1 < points->size() &&
           !(*points)[last + 1].is_out)
      ++last;
    if (last == i) {
      settled->push_back({first, FlowRole::kAlone, 0, first.site});
    } else {
      ++arrows_;
      for (std::size_t k = i; k <= last; ++k) {
        const FlowRole role = k == i      ? FlowRole::kStart
                              : k == last ? FlowRole::kFinish
                                          : FlowRole::kStep;
        settled->push_back({(*points)[k], role, arrows_, first.site});
      }
    }
    i = last + 1;
  }
  points_ -= points->size();
  points->clear();
}

}  // namespace weft::exporters
