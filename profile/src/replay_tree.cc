// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/replay_tree.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

namespace weft::reference {
namespace {

class Replay {
 public:
  explicit Replay(const std::vector<ReplayEvent>& events)
      : events_(events), nodes_(events.size()) {}

  std::vector<ReplayNode> run() {
    std::vector<std::size_t> order(events_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) {
                       return events_[a].start_ns < events_[b].start_ns;
                     });
    for (const std::size_t i : order) {
      while (!ends_.empty() && ends_.top().first < events_[i].start_ns) {
        close_next();
      }
      open(i);
    }
    while (!ends_.empty()) close_next();
    return std::move(nodes_);
  }

 private:
  std::size_t innermost(std::int64_t thread) const {
    const auto found = innermost_.find(thread);
    return found == innermost_.end() ? kNoEvent : found->second;
  }

  void open(std::size_t i) {
    const ReplayEvent& event = events_[i];
    ReplayNode& node = nodes_[i];
    node.parent = innermost(event.thread);
    if (node.parent == kNoEvent && event.fwd_thread > 0) {
      node.parent = innermost(event.fwd_thread);
    }
    if (!event.end_ns) {
      innermost_[event.thread] = i;
    } else if (*event.end_ns > event.start_ns) {
      innermost_[event.thread] = i;
      ends_.emplace(*event.end_ns, i);
    } else {
      finish(i, *event.end_ns);
    }
  }

  void finish(std::size_t i, std::int64_t borrowed_end_ns) {
    nodes_[i].finished = true;
    nodes_[i].end_ns = events_[i].end_ns.value_or(borrowed_end_ns);
  }

  // Finishes an event and whatever was opened inside it since.
  void close_next() {
    const auto [end_ns, i] = ends_.top();
    ends_.pop();
    if (nodes_[i].finished) return;
    const std::int64_t thread = events_[i].thread;
    for (std::size_t inner = innermost(thread); inner != i && inner != kNoEvent;
         inner = nodes_[inner].parent) {
      finish(inner, end_ns);
    }
    finish(i, end_ns);
    if (nodes_[i].parent == kNoEvent) {
      innermost_.erase(thread);
    } else {
      innermost_[thread] = nodes_[i].parent;
    }
  }

  using End = std::pair<std::int64_t, std::size_t>;

  const std::vector<ReplayEvent>& events_;
  std::vector<ReplayNode> nodes_;
  std::map<std::int64_t, std::size_t> innermost_;  // by thread
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

std::vector<ReplayNode> replay_tree(const std::vector<ReplayEvent>& events) {
  return Replay(events).run();
}

}  // namespace weft::reference
