// SPDX-License-Identifier: Apache-2.0
#include "write_queue.h"

#include <exception>
#include <utility>

namespace service {

WriteQueue::WriteQueue(ItemStore& store, std::size_t capacity)
    : store_(store), capacity_(capacity), thread_([this] { run(); }) {}

WriteQueue::~WriteQueue() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::optional<std::future<std::optional<Item>>> WriteQueue::push(
    std::int64_t id, std::string body) {
  WEFT_SPAN("enqueue");
  std::future<std::optional<Item>> written;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= capacity_) return std::nullopt;
    WEFT_ASYNC_SPAN(queued, "queued_write", {"id", id});
    queue_.push_back(
        {id, std::move(body), weft::Request::current(), std::move(queued), {}});
    written = queue_.back().written.get_future();
    // Inside the lock, so that the samples come in the order of the changes.
    WEFT_COUNTER("queue_depth", queue_.size());
    WEFT_FLOW_OUT("write", queue_.back().request.low);
  }
  changed_.notify_one();
  return written;
}

void WriteQueue::run() {
  weft::set_thread_name("writer");
  for (;;) {
    std::vector<Write> batch = take_batch();
    if (batch.empty()) return;
    commit(batch);
  }
}

std::vector<WriteQueue::Write> WriteQueue::take_batch() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
  std::vector<Write> batch = std::exchange(queue_, {});
  WEFT_COUNTER("queue_depth", 0);
  return batch;
}

void WriteQueue::commit(std::vector<Write>& batch) {
  WEFT_SPAN_NAMED(span, "commit_batch", {"writes", batch.size()});
  std::vector<std::optional<Item>> results;
  try {
    ItemStore::Transaction transaction(store_);
    for (Write& write : batch) {
      write.queued.end();
      const weft::Request request{write.request};
      WEFT_SPAN("apply_write", {"id", write.id});
      WEFT_FLOW_IN("write", write.request.low);
      results.push_back(transaction.replace(write.id, write.body));
    }
    transaction.commit();
  } catch (const std::exception& error) {
    span.fail(error.what());
    for (Write& write : batch) {
      write.written.set_exception(std::current_exception());
    }
    return;
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const weft::Request request{batch[i].request};
    WEFT_FLOW_OUT("reply", batch[i].request.low);
    batch[i].written.set_value(std::move(results[i]));
  }
}

}  // namespace service
