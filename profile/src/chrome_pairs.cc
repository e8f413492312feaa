// SPDX-License-Identifier: Apache-2.0
#include "chrome_pairs.h"

#include <algorithm>
#include <utility>

#include "weft/profile/wrapping_sum.h"

namespace weft::profile {

std::string joined_key(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) {
    key += part;
    key += '\0';
  }
  return key;
}

void ChromePairs::add(std::string key, const ChromeEvent& event, bool begins) {
  halves_[std::move(key)].push_back(
      {*event.start_ns, begins, event.has_name, names_.number_of(event.name)});
}

ChromePairFacts ChromePairs::facts() {
  ChromePairFacts facts;
  for (auto& [key, halves] : halves_) {
    std::stable_sort(
        halves.begin(), halves.end(),
        [](const Half& a, const Half& b) { return a.at_ns < b.at_ns; });
    std::vector<const Half*> open;
    for (const Half& half : halves) {
      if (half.begins) {
        open.push_back(&half);
        facts.max_depth = std::max<std::uint64_t>(facts.max_depth, open.size());
      } else if (open.empty()) {
        ++facts.ends_alone;
      } else {
        const Half& begin = *open.back();
        open.pop_back();
        ++facts.pairs;
        if (begin.name != half.name && half.named) ++facts.names_differ;
        std::int64_t length = half.at_ns;
        subtract_wrapping(length, begin.at_ns);
        add_wrapping(facts.total_ns, length);
      }
    }
    facts.begins_alone += open.size();
  }
  return facts;
}

void ChromeFlows::add(const ChromeEvent& event) {
  by_category_[std::string(event.category)]
              [joined_key({event.id, event.scope})]
                  .push_back({*event.start_ns, event.phase.front()});
}

std::map<std::string, ChromeFlowFacts> ChromeFlows::facts() {
  std::map<std::string, ChromeFlowFacts> all;
  for (auto& [category, ids] : by_category_) {
    ChromeFlowFacts& facts = all[category];
    for (auto& [id, points] : ids) {
      std::stable_sort(
          points.begin(), points.end(),
          [](const Point& a, const Point& b) { return a.at_ns < b.at_ns; });
      std::uint64_t starts = 0;
      std::uint64_t ends = 0;
      bool open = false;
      for (const Point& point : points) {
        if (point.phase == 's') {
          ++starts;
          open = true;
          continue;
        }
        if (open) ++facts.arrows;
        if (point.phase == 't') {
          ++facts.steps;
        } else {
          ++ends;
          open = false;
        }
      }
      facts.starts += starts;
      facts.ends += ends;
      if (starts > 0 && ends > 0) ++facts.ids_with_both;
      if (starts == 0 && ends > 0) ++facts.ids_end_only;
      if (starts > 0 && ends == 0) ++facts.ids_start_only;
    }
  }
  return all;
}

}  // namespace weft::profile
