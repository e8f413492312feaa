// SPDX-License-Identifier: Apache-2.0
#include "row_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::profile {
namespace {

struct Place {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::size_t from;
};

bool before(const Place& a, const Place& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
  return a.from < b.from;
}

}  // namespace

void sort_rows(std::vector<FunctionEvent>& rows) {
  std::vector<Place> order;
  order.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    order.push_back({rows[i].start_ns, rows[i].end_ns, i});
  if (std::is_sorted(order.begin(), order.end(), before)) return;
  std::sort(order.begin(), order.end(), before);
  // Along each cycle; a place that points to itself is done.
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i].from == i) continue;
    FunctionEvent first = std::move(rows[i]);
    std::size_t to = i;
    while (order[to].from != i) {
      const std::size_t from = std::exchange(order[to].from, to);
      rows[to] = std::move(rows[from]);
      to = from;
    }
    order[to].from = to;
    rows[to] = std::move(first);
  }
}

}  // namespace weft::profile
