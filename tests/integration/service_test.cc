// SPDX-License-Identifier: Apache-2.0

// A traced program from outside: what examples/service did, and what its trace
// says it did.

#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/service_process.h"
#include "weft/export/trace_reader.h"

namespace weft::test {
namespace {

using exporters::DecodedRecord;
using exporters::TraceReader;

constexpr int kClients = 4;
constexpr int kRequestsPerClient = 60;
constexpr int kNoSuchItem = 1'000'000;

// What the clients asked for, counted by them.
struct Asked {
  std::atomic<std::int64_t> get{0};
  std::atomic<std::int64_t> put{0};
  std::atomic<std::int64_t> search{0};
  std::atomic<std::int64_t> refused{0};
  std::atomic<std::int64_t> wrong{0};  // not answered as they should be
};

void run_client(int port, int number, Asked& asked) {
  httplib::Client client("127.0.0.1", port);
  client.set_keep_alive(true);
  const auto expect = [&](const httplib::Result& answer, int status) {
    if (!answer || answer->status != status) ++asked.wrong;
  };
  for (int i = 0; i < kRequestsPerClient; ++i) {
    const std::string item = "/items/" + std::to_string(1 + (i * number) % 50);
    switch (i % 6) {
      case 0:
        ++asked.put;
        expect(client.Put(item, "text of client", "text/plain"), 200);
        break;
      case 1:
        ++asked.search;
        expect(client.Get("/search?word=heron"), 200);
        break;
      case 2:
        ++asked.get;
        ++asked.refused;
        expect(client.Get("/items/" + std::to_string(kNoSuchItem)), 404);
        break;
      default:
        ++asked.get;
        expect(client.Get(item), 200);
    }
  }
}

// A record, with what it refers to spelled out.
struct Event {
  RecordKind kind;
  std::string name;
  std::string thread;
  std::uint64_t target;
  std::uint64_t async;    // of a kAsyncBegin: its id
  std::uint64_t request;  // that the record belongs to
  std::string reason;     // of a kFailure
};

std::vector<Event> read_events(TraceReader& reader) {
  const exporters::TraceInfo& info = reader.info();
  std::map<ThreadIndex, std::string> threads;
  for (const ThreadInfo& thread : info.threads) {
    threads[thread.index] = info.text(thread.name);
  }
  std::map<ThreadIndex, std::uint64_t> current;
  std::vector<Event> events;
  DecodedRecord record;
  while (reader.next(&record)) {
    if (record.kind == RecordKind::kContext) {
      current[record.thread] = record.target;
    }
    events.push_back(
        {record.kind, std::string(info.name_of(record)), threads[record.thread],
         record.target, async_id(record.thread, record.position),
         current[record.thread],
         std::string(record.kind == RecordKind::kFailure ? info.text(record.key)
                                                         : "")});
  }
  return events;
}

std::int64_t count(const std::vector<Event>& events, RecordKind kind,
                   const std::string& name) {
  return std::count_if(events.begin(), events.end(), [&](const Event& event) {
    return event.kind == kind && event.name == name;
  });
}

// Flow ids with this name and the thread each was recorded on.
std::map<std::uint64_t, std::string> flows(const std::vector<Event>& events,
                                           RecordKind kind,
                                           const std::string& name) {
  std::map<std::uint64_t, std::string> found;
  for (const Event& event : events) {
    if (event.kind == kind && event.name == name) {
      found[event.target] = event.thread;
    }
  }
  return found;
}

class Service : public testing::Test {
 protected:
  Service()
      : trace_(testing::TempDir() + "service_test." +
               std::to_string(::getpid()) + ".weft") {}
  ~Service() override { std::filesystem::remove(trace_); }

  // Runs `program` under the clients' load.
  void run(const std::string& program,
           const std::vector<std::string>& options) {
    ServiceProcess service(program, options);
    ASSERT_NE(service.port(), 0);
    std::vector<std::thread> clients;
    for (int number = 1; number <= kClients; ++number) {
      clients.emplace_back(run_client, service.port(), number,
                           std::ref(asked_));
    }
    for (std::thread& client : clients) client.join();
    ASSERT_EQ(service.stop(), 0);
    EXPECT_EQ(asked_.wrong, 0);
    EXPECT_EQ(service.reported("GET /items"), asked_.get);
    EXPECT_EQ(service.reported("PUT /items"), asked_.put);
    EXPECT_EQ(service.reported("GET /search"), asked_.search);
    EXPECT_EQ(service.reported("failed"), asked_.refused);
    delivered_ = service.reported("records_delivered");
    dropped_ = service.reported("records_dropped");
  }

  // Runs it traced and reads the trace.
  void run_traced() {
    ASSERT_NO_FATAL_FAILURE(run(WEFT_SERVICE, {"--trace", trace_}));
    auto reader = TraceReader::open(trace_);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    EXPECT_TRUE(reader->info().complete);
    metadata_ = reader->info().metadata;
    events_ = read_events(*reader);
    for (const exporters::TraceProblem& problem :
         exporters::check_trace(*reader)) {
      ADD_FAILURE() << "at " << problem.offset << ": " << problem.what;
    }
  }

  const std::string trace_;
  Asked asked_;
  std::int64_t delivered_ = 0;
  std::int64_t dropped_ = 0;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<Event> events_;
};

// A trace that lacks requests, or has too many, is evidence of nothing.
TEST_F(Service, EveryRequestHasItsSpan) {
  ASSERT_NO_FATAL_FAILURE(run_traced());

  for (const RecordKind kind : {RecordKind::kSpanBegin, RecordKind::kSpanEnd}) {
    EXPECT_EQ(count(events_, kind, "GET /items"), asked_.get);
    EXPECT_EQ(count(events_, kind, "PUT /items"), asked_.put);
    EXPECT_EQ(count(events_, kind, "GET /search"), asked_.search);
    EXPECT_EQ(count(events_, kind, "query_search"), asked_.search);
    EXPECT_EQ(count(events_, kind, "apply_write"), asked_.put);
  }
}

// What the process says it delivered must be what the file holds.
TEST_F(Service, TheFileHoldsWhatTheProcessSaysItDelivered) {
  ASSERT_NO_FATAL_FAILURE(run_traced());

  EXPECT_EQ(static_cast<std::int64_t>(events_.size()), delivered_);
  EXPECT_EQ(dropped_, 0);
}

// Arrows that start and end nowhere, or on one thread, would hide the hand-off.
TEST_F(Service, EachWriteFlowsToTheWriterAndBack) {
  ASSERT_NO_FATAL_FAILURE(run_traced());

  const auto write_out = flows(events_, RecordKind::kFlowOut, "write");
  const auto write_in = flows(events_, RecordKind::kFlowIn, "write");
  const auto reply_out = flows(events_, RecordKind::kFlowOut, "reply");
  const auto reply_in = flows(events_, RecordKind::kFlowIn, "reply");
  ASSERT_EQ(static_cast<std::int64_t>(write_out.size()), asked_.put);
  ASSERT_EQ(write_in.size(), write_out.size());
  ASSERT_EQ(reply_out.size(), write_out.size());
  ASSERT_EQ(reply_in.size(), write_out.size());
  for (const auto& [id, worker] : write_out) {
    EXPECT_EQ(worker.substr(0, 7), "worker ");
    ASSERT_TRUE(write_in.contains(id));
    EXPECT_EQ(write_in.at(id), "writer");
    ASSERT_TRUE(reply_out.contains(id));
    EXPECT_EQ(reply_out.at(id), "writer");
    ASSERT_TRUE(reply_in.contains(id));
    EXPECT_EQ(reply_in.at(id), worker);
  }
}

// Otherwise a request's slow write could not be found from the request.
TEST_F(Service, TheWritersWorkBelongsToTheRequestThatAskedForIt) {
  ASSERT_NO_FATAL_FAILURE(run_traced());

  std::set<std::uint64_t> asked_for;
  std::set<std::uint64_t> written_for;
  for (const Event& event : events_) {
    if (event.kind != RecordKind::kSpanBegin) continue;
    if (event.name == "PUT /items") asked_for.insert(event.request);
    if (event.name == "apply_write") written_for.insert(event.request);
    if (event.name == "compact") {
      EXPECT_EQ(event.request, 0u);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(asked_for.size()), asked_.put);
  EXPECT_EQ(written_for, asked_for);
}

// A queued write that never ends would look like a stuck one.
TEST_F(Service, EachQueuedWriteEnds) {
  ASSERT_NO_FATAL_FAILURE(run_traced());

  std::set<std::uint64_t> begun;
  std::set<std::uint64_t> ended;
  for (const Event& event : events_) {
    if (event.kind == RecordKind::kAsyncBegin) begun.insert(event.async);
    if (event.kind == RecordKind::kAsyncEnd) ended.insert(event.target);
  }
  EXPECT_EQ(static_cast<std::int64_t>(begun.size()), asked_.put);
  EXPECT_EQ(ended, begun);
}

// A refusal without its reason sends its reader to the logs.
TEST_F(Service, EachRefusalSaysWhy) {
  ASSERT_NO_FATAL_FAILURE(run_traced());

  const auto refusals =
      std::count_if(events_.begin(), events_.end(), [](const Event& event) {
        return event.kind == RecordKind::kFailure &&
               event.reason == "no such item";
      });
  EXPECT_EQ(refusals, asked_.refused);
}

// Metadata tells traces of two configurations apart.
TEST_F(Service, TheTraceNamesWhatWasTraced) {
  ASSERT_NO_FATAL_FAILURE(run_traced());

  const std::pair<std::string, std::string> service{"service", "items"};
  EXPECT_NE(std::find(metadata_.begin(), metadata_.end(), service),
            metadata_.end());
}

// A service that nobody traces must not leave files behind, or fail.
TEST_F(Service, ServesWithoutBeingTraced) {
  ASSERT_NO_FATAL_FAILURE(run(WEFT_SERVICE, {}));

  EXPECT_EQ(delivered_, 0);
  EXPECT_FALSE(std::filesystem::exists(trace_));
}

// -DWEFT_DISABLED must leave the program as it is and no span in its trace.
TEST_F(Service, ServesWithTheInstrumentationCompiledOut) {
  ASSERT_NO_FATAL_FAILURE(run(WEFT_SERVICE_OFF, {"--trace", trace_}));

  auto reader = TraceReader::open(trace_);
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  for (const Event& event : read_events(*reader)) {
    EXPECT_EQ(event.name, "");
  }
}

// The host comes first: it serves even if the trace cannot be written.
TEST_F(Service, ServesWhenTheTraceCannotBeWritten) {
  ASSERT_NO_FATAL_FAILURE(
      run(WEFT_SERVICE, {"--trace", "/no/such/folder/service.weft"}));

  EXPECT_EQ(delivered_, 0);
}

}  // namespace
}  // namespace weft::test
