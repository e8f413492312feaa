// SPDX-License-Identifier: Apache-2.0
#include "chrome_json_async.h"

#include <utility>

namespace weft::exporters {
namespace {

template <class Map>
std::optional<typename Map::mapped_type> take_from(Map* map, std::uint64_t id) {
  const auto found = map->find(id);
  if (found == map->end()) return std::nullopt;
  std::optional<typename Map::mapped_type> taken(std::move(found->second));
  map->erase(found);
  return taken;
}

// Forgets ids at the front that are gone, and of what is left all that are gone
// when they are most: so the order stays as long as the map, give or take.
template <class Map>
void trim(const Map& map, std::deque<std::uint64_t>* order) {
  while (!order->empty() && !map.contains(order->front())) order->pop_front();
  if (order->size() < 2 * map.size() + 1024) return;
  std::erase_if(*order, [&](std::uint64_t id) { return !map.contains(id); });
}

}  // namespace

void AsyncTable::begin(std::uint64_t id, AsyncBegin begin) {
  open_.insert_or_assign(id, std::move(begin));
  open_order_.push_back(id);
  trim(open_, &open_order_);
}

AsyncBegin* AsyncTable::find(std::uint64_t id) {
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : &found->second;
}

std::optional<AsyncBegin> AsyncTable::take(std::uint64_t id) {
  return take_from(&open_, id);
}

std::optional<AsyncTable::Open> AsyncTable::take_oldest() {
  trim(open_, &open_order_);
  if (open_order_.empty()) return std::nullopt;
  const std::uint64_t id = open_order_.front();
  return Open{id, *take_from(&open_, id)};
}

void AsyncTable::early_end(std::uint64_t id, AsyncEnd end) {
  early_.insert_or_assign(id, std::move(end));
  early_order_.push_back(id);
  trim(early_, &early_order_);
}

std::optional<AsyncEnd> AsyncTable::take_early(std::uint64_t id) {
  return take_from(&early_, id);
}

std::optional<AsyncTable::EarlyEnd> AsyncTable::take_oldest_early() {
  trim(early_, &early_order_);
  if (early_order_.empty()) return std::nullopt;
  const std::uint64_t id = early_order_.front();
  return EarlyEnd{id, *take_from(&early_, id)};
}

std::size_t AsyncTable::slot_of(std::uint64_t id) noexcept {
  return static_cast<std::size_t>((id * 0x9e3779b97f4a7c15u) >> 52);
}

void AsyncTable::note_ended(const Ended& ended) noexcept {
  ended_[slot_of(ended.id)] = ended;
}

const AsyncTable::Ended* AsyncTable::ended(std::uint64_t id) const noexcept {
  const Ended& ended = ended_[slot_of(id)];
  return ended.number != 0 && ended.id == id ? &ended : nullptr;
}

}  // namespace weft::exporters
