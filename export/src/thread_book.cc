// SPDX-License-Identifier: Apache-2.0
#include "thread_book.h"

namespace weft::exporters {
namespace {

// An exporter that is stuck while threads come and go tells the newest of them.
constexpr std::size_t kMaxUntold = std::size_t{1} << 16;

}  // namespace

void ThreadBook::note(const Catalog& catalog) {
  ThreadInfo thread;
  while (catalog.next_thread(&cursor_, &thread)) {
    if (thread.exit_tick == 0) {
      running_[thread.index] = thread;
    } else {
      running_.erase(thread.index);
      exited_.push_back(thread);
      if (exited_.size() > max_exited_) exited_.pop_front();
    }
    untold_.push_back(thread);
    if (untold_.size() > kMaxUntold) untold_.pop_front();
  }
}

void ThreadBook::restart() {
  const std::vector<ThreadInfo> known = all();
  untold_.assign(known.begin(), known.end());
}

std::vector<ThreadInfo> ThreadBook::all() const {
  std::vector<ThreadInfo> known(exited_.begin(), exited_.end());
  for (const auto& [index, thread] : running_) known.push_back(thread);
  return known;
}

}  // namespace weft::exporters
