// SPDX-License-Identifier: Apache-2.0
//
// Spans that neither stay on one thread nor nest.

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <map>

#include "runtime/collection.h"
#include "weft/async_span.h"
#include "weft/request.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

// Starts at once and runs on whatever thread resumes it.
struct Task {
  struct promise_type {
    Task get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

Task handle_request() {
  AsyncSpan request("request");
  WEFT_SPAN_NAMED(scope, "scope over suspensions");
  for (int i = 0; i < 3; ++i) {
    { WEFT_SPAN("between suspensions"); }
    co_await std::suspend_always();
  }
}

std::map<std::uint64_t, int> async_balance(const CollectingExporter& all) {
  std::map<std::uint64_t, int> balance;
  for (const auto& [index, thread] : all.threads())
    for (const auto& record : thread.records) {
      if (record.kind == RecordKind::kAsyncBegin)
        ++balance[async_id(static_cast<ThreadIndex>(index), record.position)];
      if (record.kind == RecordKind::kAsyncEnd)
        --balance[record.values.at(0).word1];
    }
  return balance;
}

TEST(K8_02, ACoroutineResumedOnThreeThreadsDisturbsNoStack) {
  Collection collection;
  Task task = handle_request();
  for (int i = 0; i < 3; ++i)
    std::thread([&] {
      WEFT_SPAN("worker");
      task.handle.resume();
    }).join();
  ASSERT_TRUE(task.handle.done());
  task.handle.destroy();
  const CollectingExporter& all = collection.stop();
  ASSERT_EQ(all.threads().size(), 4u);
  for (const auto& [index, thread] : all.threads()) expect_nested(all, thread);
  std::uint64_t moved = 0;  // the id of the span that ended elsewhere
  for (const auto& [index, thread] : all.threads())
    for (const auto& record : thread.records)
      if (all.name_of(record) == "scope over suspensions" &&
          record.kind == RecordKind::kSpanBegin)
        moved = async_id(static_cast<ThreadIndex>(index), record.position);
  auto balance = async_balance(all);
  EXPECT_EQ(balance[moved], -1);  // an end under the id of the span's begin
  balance.erase(moved);
  ASSERT_EQ(balance.size(), 1u);
  EXPECT_EQ(balance.begin()->second, 0);
}

TEST(K8_02, OverlappingRequestsAreEachWhole) {
  Collection collection;
  std::vector<AsyncSpan> requests;
  for (int i = 0; i < 100; ++i) {
    WEFT_ASYNC_SPAN(request, "request", {"number", i});
    requests.push_back(std::move(request));
  }
  std::thread([&] {
    for (AsyncSpan& request : requests) request.end();
  }).join();
  const CollectingExporter& all = collection.stop();
  const auto balance = async_balance(all);
  EXPECT_EQ(balance.size(), 100u);
  for (const auto& [id, open] : balance) EXPECT_EQ(open, 0);
}

TEST(K8_02, AnUnfinishedAsyncSpanIsThere) {
  Collection collection;
  WEFT_ASYNC_SPAN(unfinished, "unfinished");
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(all.count(RecordKind::kAsyncBegin), 1u);
  EXPECT_EQ(all.count(RecordKind::kAsyncEnd), 0u);
}

// A request is carried along by its id.
TEST(K8_02, ARequestIsCarriedToAnotherThread) {
  Collection collection;
  const Request request(77);
  std::thread([id = Request::current()] {
    const Request carried(id);
    WEFT_SPAN("work");
  }).join();
  const CollectingExporter& all = collection.stop();
  for (const auto& [index, thread] : all.threads())
    for (const auto& record : thread.records)
      if (record.kind == RecordKind::kContext && !record.values.empty()) {
        EXPECT_EQ(record.values[0].word1, 77u);
      }
  EXPECT_GE(all.count(RecordKind::kContext), 2u);
}

}  // namespace
}  // namespace weft::test
