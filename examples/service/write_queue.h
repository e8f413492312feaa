// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_SERVICE_WRITE_QUEUE_H_
#define WEFT_EXAMPLES_SERVICE_WRITE_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "item.h"
#include "item_store.h"
#include "weft/weft.h"

namespace service {

// Workers hand their writes to one thread, which commits many at a time.
//
//   worker  PUT /items [enqueue]------ await_commit ------[committed]
//                          | flow "write"                  ^ flow "reply"
//   writer                 +--> commit_batch [apply_write] +
//
// A write's time in the queue is an asynchronous span, "queued_write", since
// it begins on one thread and ends on another. The request travels with the
// write, so the writer's work for it counts as the request's.
class WriteQueue {
 public:
  WriteQueue(ItemStore& store, std::size_t capacity);
  // Commits what is queued, then ends the thread.
  ~WriteQueue();

  // The future holds the item as written, nothing if there is no such item,
  // or the exception that failed the transaction. No future: the queue is full.
  // Thread-safe.
  std::optional<std::future<std::optional<Item>>> push(std::int64_t id,
                                                       std::string body);

 private:
  struct Write {
    std::int64_t id = 0;
    std::string body;
    weft::RequestId request;
    weft::AsyncSpan queued;
    std::promise<std::optional<Item>> written;
  };

  void run();
  // All that is queued; none when the queue is closed and empty.
  std::vector<Write> take_batch();
  void commit(std::vector<Write>& batch);

  ItemStore& store_;
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Write> queue_;
  bool closed_ = false;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace service

#endif  // WEFT_EXAMPLES_SERVICE_WRITE_QUEUE_H_
