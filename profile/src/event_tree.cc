// SPDX-License-Identifier: Apache-2.0
#include "event_tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace weft::profile {
namespace {

bool nests(const FunctionEvent& event) {
  return event.is_host() && !event.is_async;
}

// Positions of the rows that nest, grouped by thread and node.
std::vector<std::vector<std::size_t>> groups_of(
    const std::vector<FunctionEvent>& events, Rules rules) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (nests(events[i])) order.push_back(i);
  }
  // The reference sorts by thread only, so that interleaved nodes split a
  // group.
  std::stable_sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const FunctionEvent& x = events[a];
        const FunctionEvent& y = events[b];
        if (rules == Rules::kReference) return x.thread < y.thread;
        return std::tie(x.thread, x.node_id) < std::tie(y.thread, y.node_id);
      });
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t i : order) {
    if (groups.empty() ||
        events[groups.back().front()].thread != events[i].thread ||
        events[groups.back().front()].node_id != events[i].node_id) {
      groups.emplace_back();
    }
    groups.back().push_back(i);
  }
  return groups;
}

std::uint64_t link_group(std::vector<FunctionEvent>& events,
                         std::vector<std::size_t>& group) {
  std::stable_sort(group.begin(), group.end(),
                   [&](std::size_t a, std::size_t b) {
                     const FunctionEvent& x = events[a];
                     const FunctionEvent& y = events[b];
                     return x.start_ns != y.start_ns ? x.start_ns < y.start_ns
                                                     : x.end_ns > y.end_ns;
                   });
  std::uint64_t overlaps = 0;
  std::vector<std::size_t> open;
  for (const std::size_t i : group) {
    FunctionEvent& event = events[i];
    event.overlaps = false;  // memory records may have linked them before
    while (!open.empty()) {
      FunctionEvent& parent = events[open.back()];
      const bool after = event.start_ns >= parent.end_ns;
      if (!after && event.end_ns <= parent.end_ns) {
        event.parent = open.back();
        parent.children.push_back(i);
        break;
      }
      if (!after && !event.overlaps) {
        event.overlaps = true;
        ++overlaps;
      }
      open.pop_back();
    }
    open.push_back(i);
  }
  return overlaps;
}

// What is left of `events` without the rows marked; positions follow.
void erase_rows(std::vector<FunctionEvent>& events,
                const std::vector<bool>& erased) {
  std::vector<std::size_t> moved(events.size(), kNoEvent);
  std::size_t next = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!erased[i]) moved[i] = next++;
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (erased[i]) continue;
    FunctionEvent& event = events[i];
    if (event.parent != kNoEvent) event.parent = moved[event.parent];
    for (std::size_t& child : event.children) child = moved[child];
    if (moved[i] != i) events[moved[i]] = std::move(event);
  }
  events.resize(next);
}

// The only child that counts, or kNoEvent. Memory rows do not count: a failed
// allocation must not decide what is a row.
std::size_t only_child(const std::vector<FunctionEvent>& events,
                       const FunctionEvent& parent, Rules rules) {
  std::size_t found = kNoEvent;
  for (const std::size_t child : parent.children) {
    if (rules == Rules::kWeft && events[child].is_instant()) continue;
    if (found != kNoEvent) return kNoEvent;
    found = child;
  }
  return found;
}

void merge_into_parent(std::vector<FunctionEvent>& events, std::size_t i,
                       Rules rules) {
  FunctionEvent& child = events[i];
  const std::size_t parent_at = child.parent;
  FunctionEvent& parent = events[parent_at];
  for (const std::size_t grandchild : child.children) {
    events[grandchild].parent = parent_at;
  }
  const auto place =
      std::find(parent.children.begin(), parent.children.end(), i);
  const auto hole = parent.children.erase(place);
  parent.children.insert(hole, child.children.begin(), child.children.end());
  if (rules == Rules::kReference) {
    parent.kernels = std::move(child.kernels);
  } else {
    std::move(child.kernels.begin(), child.kernels.end(),
              std::back_inserter(parent.kernels));
  }
}

// For every row the nearest backward range of itself and its ancestors.
std::vector<std::size_t> backward_ranges(
    const std::vector<FunctionEvent>& events) {
  std::vector<std::size_t> found(events.size(), kNoEvent);
  std::vector<std::size_t> pending;
  for (std::size_t root = 0; root < events.size(); ++root) {
    if (events[root].parent != kNoEvent) continue;
    pending.push_back(root);
    while (!pending.empty()) {
      const std::size_t i = pending.back();
      pending.pop_back();
      const FunctionEvent& event = events[i];
      if (event.scope == RecordScope::kBackwardFunction) {
        found[i] = i;
      } else if (event.parent != kNoEvent) {
        found[i] = found[event.parent];
      }
      pending.insert(pending.end(), event.children.begin(),
                     event.children.end());
    }
  }
  return found;
}

// Positions so that children come before their parents.
std::vector<std::size_t> children_first(
    const std::vector<FunctionEvent>& events) {
  std::vector<std::size_t> order;
  order.reserve(events.size());
  for (std::size_t root = 0; root < events.size(); ++root) {
    if (events[root].parent != kNoEvent) continue;
    std::size_t at = order.size();
    order.push_back(root);
    for (; at < order.size(); ++at) {
      const auto& children = events[order[at]].children;
      order.insert(order.end(), children.begin(), children.end());
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// The column a device's time belongs to. The reference has one per session.
std::optional<DeviceFamily> column_of(DeviceType device, Rules rules,
                                      bool custom_device) {
  if (rules == Rules::kWeft || device == DeviceType::kCpu) {
    return family_of(device);
  }
  return custom_device ? DeviceFamily::kCustom : DeviceFamily::kCuda;
}

}  // namespace

std::uint64_t link_parents(std::vector<FunctionEvent>& events, Rules rules) {
  std::uint64_t overlaps = 0;
  for (std::vector<std::size_t>& group : groups_of(events, rules)) {
    overlaps += link_group(events, group);
  }
  return overlaps;
}

std::uint64_t merge_duplicates(std::vector<FunctionEvent>& events,
                               Rules rules) {
  std::uint64_t merged = 0;
  for (;;) {
    std::vector<bool> erased(events.size(), false);
    bool any = false;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const std::size_t parent = events[i].parent;
      if (parent == kNoEvent || events[parent].name != events[i].name ||
          only_child(events, events[parent], rules) != i) {
        continue;
      }
      merge_into_parent(events, i, rules);
      erased[i] = true;
      any = true;
      ++merged;
    }
    if (!any) return merged;
    erase_rows(events, erased);
  }
}

void inherit_forward_stacks(std::vector<FunctionEvent>& events, Rules rules) {
  const std::vector<std::size_t> backward = backward_ranges(events);
  using Key = std::pair<std::int64_t, std::int64_t>;  // sequence nr, thread
  std::map<Key, std::size_t> forward;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const FunctionEvent& event = events[i];
    if (backward[i] != kNoEvent) continue;
    // The reference takes "no number" for a number and an empty stack for one.
    if (rules == Rules::kWeft &&
        (event.sequence_nr < 0 || event.stack.empty())) {
      continue;
    }
    forward.emplace(Key{event.sequence_nr, event.thread}, i);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (backward[i] == kNoEvent) continue;
    const FunctionEvent& range = events[backward[i]];
    const auto found = forward.find({range.sequence_nr, range.fwd_thread});
    if (found != forward.end()) {
      events[i].stack = events[found->second].stack;
    } else if (rules == Rules::kReference) {
      events[i].stack.clear();
    }
  }
}

void derive_metrics(std::vector<FunctionEvent>& events, Rules rules,
                    bool custom_device) {
  for (const std::size_t i : children_first(events)) {
    FunctionEvent& event = events[i];
    if (!event.is_host()) {
      if (const auto family = column_of(event.device, rules, custom_device)) {
        event.device_time_total_ns[*family] = event.duration_ns();
        event.self_device_time_total_ns[*family] = event.duration_ns();
      }
      continue;
    }
    event.cpu_time_total_ns = event.duration_ns();
    if (event.is_async) continue;
    PerFamily own;
    for (const Kernel& kernel : event.kernels) {
      if (const auto family = column_of(kernel.device, rules, custom_device)) {
        add_wrapping(own[*family], kernel.duration_ns);
      }
    }
    event.self_cpu_time_total_ns = event.cpu_time_total_ns;
    event.self_memory = event.memory;
    PerFamily of_children;
    for (const std::size_t child : event.children) {
      subtract_wrapping(event.self_cpu_time_total_ns,
                        events[child].cpu_time_total_ns);
      event.self_memory -= events[child].memory;
      of_children += events[child].device_time_total_ns;
    }
    event.device_time_total_ns = own;
    // A pair of device events spans what runs inside already.
    if (!event.is_legacy) event.device_time_total_ns += of_children;
    event.self_device_time_total_ns = event.device_time_total_ns;
    event.self_device_time_total_ns -= of_children;
  }
}

}  // namespace weft::profile
