// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_THREAD_BOOK_H_
#define WEFT_EXPORT_SRC_THREAD_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "weft/catalog.h"

namespace weft::exporters {

// What threads are, for as long as it may have to be told (again). The catalog
// says each thing once and forgets it; an exporter that has no room at that
// moment, or loses what it wrote, needs it later.
//
// Knows every thread that runs and the last `max_exited` that ended. Grows with
// threads that begin, not with records. Drainer only.
class ThreadBook {
 public:
  explicit ThreadBook(std::size_t max_exited = 4096)
      : max_exited_(max_exited) {}

  // Takes the catalog's news. To be called whenever it offers some.
  void note(const Catalog& catalog);

  // Hands what was not told yet to `put`, in the order it was learnt, until
  // that returns false. True when nothing is left.
  template <class Put>
  bool tell(Put put) {
    while (!untold_.empty()) {
      if (!put(untold_.front())) return false;
      untold_.pop_front();
    }
    return true;
  }

  // All of it is to be told again.
  void restart();

  // All that is known: those that ended, then those that run.
  std::vector<ThreadInfo> all() const;

 private:
  std::size_t max_exited_;
  std::uint64_t cursor_ = 0;
  std::map<ThreadIndex, ThreadInfo> running_;
  std::deque<ThreadInfo> exited_;
  std::deque<ThreadInfo> untold_;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_THREAD_BOOK_H_
