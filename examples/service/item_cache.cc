// SPDX-License-Identifier: Apache-2.0
#include "item_cache.h"

#include "weft/weft.h"

namespace service {

std::optional<Item> ItemCache::find(std::int64_t id) {
  WEFT_SPAN_CAT("cache", "cache_lookup");
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    if (found != by_id_.end()) {
      items_.splice(items_.begin(), items_, found->second);
      return items_.front();
    }
  }
  WEFT_INSTANT_CAT("cache", "cache_miss", {"id", id});
  return std::nullopt;
}

void ItemCache::put(const Item& item) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(item.id);
  if (found != by_id_.end()) {
    items_.splice(items_.begin(), items_, found->second);
    if (items_.front().version < item.version) items_.front() = item;
    return;
  }
  items_.push_front(item);
  by_id_[item.id] = items_.begin();
  if (items_.size() <= capacity_) return;
  by_id_.erase(items_.back().id);
  items_.pop_back();
}

}  // namespace service
