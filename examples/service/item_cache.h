// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_SERVICE_ITEM_CACHE_H_
#define WEFT_EXAMPLES_SERVICE_ITEM_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "item.h"

namespace service {

// The items used last, up to a number of them. Thread-safe.
class ItemCache {
 public:
  explicit ItemCache(std::size_t capacity) : capacity_(capacity) {}

  // A miss leaves an instant in the trace.
  std::optional<Item> find(std::int64_t id);
  // Keeps the newer of this and what is there: a slow reader must not bring
  // back what a writer has replaced meanwhile.
  void put(const Item& item);

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::list<Item> items_;  // the one used last in front
  std::unordered_map<std::int64_t, std::list<Item>::iterator> by_id_;
};

}  // namespace service

#endif  // WEFT_EXAMPLES_SERVICE_ITEM_CACHE_H_
