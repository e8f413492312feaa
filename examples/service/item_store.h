// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_SERVICE_ITEM_STORE_H_
#define WEFT_EXAMPLES_SERVICE_ITEM_STORE_H_

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "item.h"
#include "sqlite.h"

namespace service {

// Items in an SQLite database. Thread-safe.
//
// Reads share a few connections, fewer than there are workers; writes and
// compaction take turns on one more. What waits for either is a "lock_wait"
// span, what SQLite does a span of category "db".
class ItemStore {
 public:
  // Makes the database and fills it with `items` items.
  ItemStore(const std::filesystem::path& file, std::int64_t items,
            int read_connections);
  ~ItemStore();

  std::optional<Item> find(std::int64_t id);
  // Items whose body contains the word; reads every item to find them.
  std::vector<Item> search(std::string_view word, std::int64_t limit);

  // Writes in one transaction; what was there goes to the history. An item
  // that does not exist is left out of the answer.
  class Transaction;
  // Drops old history and folds SQLite's log back into the database.
  void compact();

 private:
  struct Reader;
  class ReaderLease;
  struct Writer;

  void fill(std::int64_t items);

  std::mutex readers_mutex_;
  std::condition_variable reader_returned_;
  std::vector<std::unique_ptr<Reader>> readers_;  // those that are free

  std::mutex writer_mutex_;
  std::unique_ptr<Writer> writer_;
};

// One transaction: begins with its construction, ends with commit() or, if
// that is never reached, as if it had not been. One thread at a time.
class ItemStore::Transaction {
 public:
  explicit Transaction(ItemStore& store);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // The item as it is now; nothing when there is no such item.
  std::optional<Item> replace(std::int64_t id, std::string_view body);
  void commit();

 private:
  std::unique_lock<std::mutex> lock_;
  Writer& writer_;
  bool committed_ = false;
};

}  // namespace service

#endif  // WEFT_EXAMPLES_SERVICE_ITEM_STORE_H_
