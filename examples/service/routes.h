// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_SERVICE_ROUTES_H_
#define WEFT_EXAMPLES_SERVICE_ROUTES_H_

#include <httplib.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "item_cache.h"
#include "item_store.h"
#include "write_queue.h"

namespace service {

// How many requests were answered, by route. The trace must hold one span of
// the route's name for each; tests compare the two.
struct Served {
  std::atomic<std::uint64_t> get_item{0};
  std::atomic<std::uint64_t> put_item{0};
  std::atomic<std::uint64_t> search{0};
  std::atomic<std::uint64_t> failed{0};  // of all of them
};

// What the service answers:
//
//   GET /items/7           the item, from the cache or the store
//   PUT /items/7           replaces its body; answers when that is committed
//   GET /search?word=heron the newest items with that word; slow
class Routes {
 public:
  Routes(ItemStore& store, ItemCache& cache, WriteQueue& writes)
      : store_(store), cache_(cache), writes_(writes) {}

  // This must outlive the server.
  void add_to(httplib::Server& server);
  const Served& served() const noexcept { return served_; }

 private:
  // Each gives the answer's body, or throws a Refusal or what SQLite reported.
  // `span` is the request's; its type depends on WEFT_DISABLED.
  std::string get_item(const httplib::Request& request, auto& span);
  std::string put_item(const httplib::Request& request);
  std::string search(const httplib::Request& request, auto& span);

  // Answers with what `work` gives and counts it. A failure becomes the
  // answer's status and the span's.
  void answer(httplib::Response& response, std::atomic<std::uint64_t>& count,
              auto& span, auto work);
  std::uint64_t next_id() noexcept;

  ItemStore& store_;
  ItemCache& cache_;
  WriteQueue& writes_;
  std::atomic<std::uint64_t> last_id_{0};
  Served served_;
};

}  // namespace service

#endif  // WEFT_EXAMPLES_SERVICE_ROUTES_H_
