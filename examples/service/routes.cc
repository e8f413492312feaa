// SPDX-License-Identifier: Apache-2.0
#include "routes.h"

#include <charconv>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "render.h"
#include "weft/weft.h"

namespace service {
namespace {

constexpr const char* kJson = "application/json";
constexpr std::int64_t kSearchLimit = 20;
constexpr std::size_t kLongestBody = 4096;  // bytes
constexpr std::size_t kLongestWord = 64;    // bytes

// An answer that is not what was asked for.
struct Refusal {
  int status;
  std::string_view reason;
};

constexpr Refusal kNoSuchItem{404, "no such item"};
constexpr Refusal kBadId{400, "an item's id is a positive number"};
constexpr Refusal kBadBody{413, "a body has at most 4096 bytes"};
constexpr Refusal kBadWord{400, "a word has 1 to 64 bytes"};
constexpr Refusal kQueueFull{503, "too many writes are waiting"};

std::int64_t parse_id(const httplib::Request& request) {
  WEFT_SPAN("parse");
  const std::string text = request.matches[1].str();
  std::int64_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, id);
  if (error != std::errc() || stop != end || id <= 0) throw kBadId;
  return id;
}

std::string parse_word(const httplib::Request& request) {
  WEFT_SPAN("parse");
  std::string word = request.get_param_value("word");
  if (word.empty() || word.size() > kLongestWord) throw kBadWord;
  return word;
}

}  // namespace

// The context comes first and the span second, so that the span, and all within
// it, belongs to the request.
void Routes::add_to(httplib::Server& server) {
  server.Get("/items/([^/]+)", [this](const httplib::Request& request,
                                      httplib::Response& response) {
    const weft::Request context{next_id()};
    WEFT_SPAN_NAMED(span, "GET /items");
    answer(response, served_.get_item, span,
           [&] { return get_item(request, span); });
  });
  server.Put("/items/([^/]+)", [this](const httplib::Request& request,
                                      httplib::Response& response) {
    const weft::Request context{next_id()};
    WEFT_SPAN_NAMED(span, "PUT /items", {"bytes", request.body.size()});
    answer(response, served_.put_item, span, [&] { return put_item(request); });
  });
  server.Get("/search", [this](const httplib::Request& request,
                               httplib::Response& response) {
    const weft::Request context{next_id()};
    WEFT_SPAN_NAMED(span, "GET /search");
    answer(response, served_.search, span,
           [&] { return search(request, span); });
  });
}

void Routes::answer(httplib::Response& response,
                    std::atomic<std::uint64_t>& count, auto& span, auto work) {
  // Relaxed: a count, read when all workers have ended.
  count.fetch_add(1, std::memory_order_relaxed);
  const auto fail = [&](int status, std::string_view reason) {
    served_.failed.fetch_add(1, std::memory_order_relaxed);
    span.fail(reason);
    response.status = status;
    response.set_content(render_error(reason), kJson);
  };
  try {
    response.set_content(work(), kJson);
  } catch (const Refusal& refusal) {
    fail(refusal.status, refusal.reason);
  } catch (const std::exception& error) {
    fail(500, error.what());
  }
}

std::string Routes::get_item(const httplib::Request& request, auto& span) {
  const std::int64_t id = parse_id(request);
  std::optional<Item> item = cache_.find(id);
  span.set("cached", item.has_value());
  if (!item) {
    item = store_.find(id);
    if (!item) throw kNoSuchItem;
    cache_.put(*item);
  }
  return render_item(*item);
}

std::string Routes::put_item(const httplib::Request& request) {
  const std::int64_t id = parse_id(request);
  if (request.body.size() > kLongestBody) throw kBadBody;
  auto written = writes_.push(id, request.body);
  if (!written) throw kQueueFull;
  std::optional<Item> item;
  {
    WEFT_SPAN("await_commit");
    item = written->get();
    WEFT_FLOW_IN("reply", weft::Request::current().low);
  }
  if (!item) throw kNoSuchItem;
  cache_.put(*item);
  return render_item(*item);
}

std::string Routes::search(const httplib::Request& request, auto& span) {
  const std::vector<Item> found =
      store_.search(parse_word(request), kSearchLimit);
  span.set("items", found.size());
  return render_items(found);
}

std::uint64_t Routes::next_id() noexcept {
  return last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace service
