// SPDX-License-Identifier: Apache-2.0
// Records a small trace through the real exporters, for real viewers: written
// live as JSON, and converted from a .weft file.
//
//   write_sample_trace NAME    makes NAME.weft, NAME.json and NAME.live.json
#include <cstdio>
#include <memory>
#include <string>

#include "export/fake_catalog.h"
#include "export/slot_builder.h"
#include "weft/export/chrome_json.h"
#include "weft/export/trace_reader.h"

namespace weft::test {
namespace {

constexpr Ticks kMicrosecond = 1000;  // one tick is one nanosecond
constexpr std::uint64_t kRequests = 8;

ClockAnchor anchor_at(Ticks tick) {
  ClockAnchor anchor;
  anchor.tick.fill(tick);
  anchor.ns.fill(static_cast<std::int64_t>(tick));
  anchor.half_width.fill(20);
  return anchor;
}

class Sample {
 public:
  // Returns false, and says why, if the file cannot be written.
  bool write(const std::string& path) {
    OutputOptions options;
    options.path = path;
    std::unique_ptr<Exporter> exporter;
    Error error;
    weft_open_output(options, &exporter, &error);
    if (exporter == nullptr) {
      std::fprintf(stderr, "%s\n", error.message.c_str());
      return false;
    }
    ProcessInfo process;
    process.pid = 4000;
    process.executable = "/usr/bin/service";
    process.tick_hz = 1e9;
    SubscriptionInfo subscription;
    subscription.start_tick = 1;
    exporter->begin(process, subscription);
    record(*exporter);
    while (exporter->work()) {
    }
    std::fprintf(stderr, "%s", exporter->status().error.c_str());
    return exporter->status().error.empty();
  }

 private:
  void record(Exporter& exporter) {
    FakeCatalog catalog;
    const SiteId request = catalog.add_site(SiteKind::kSpan, "request", "net",
                                            {{"bytes", RecordKind::kInt64}});
    const SiteId parse = catalog.add_site(SiteKind::kSpan, "parse", "net");
    const SiteId handle = catalog.add_site(SiteKind::kSpan, "handle", "work");
    const SiteId smile =
        catalog.add_site(SiteKind::kSpan, "na\xc3\xafve \xf0\x9f\x98\x80", "work");
    const SiteId sent = catalog.add_site(SiteKind::kFlowOut, "hand_off", "net");
    const SiteId taken = catalog.add_site(SiteKind::kFlowIn, "hand_off", "net");
    const SiteId query = catalog.add_site(SiteKind::kAsyncSpan, "query", "db");
    const SiteId miss = catalog.add_site(SiteKind::kInstant, "miss", "db");
    const SiteId depth = catalog.add_site(SiteKind::kCounter, "queue_depth");
    SlotBuilder acceptor(catalog.add_thread("acceptor", 4001));
    SlotBuilder worker(catalog.add_thread("worker", 4002));

    Ticks tick = 10 * kMicrosecond;
    exporter.anchor(anchor_at(1));
    for (std::uint64_t i = 0; i < kRequests; ++i, tick += 100 * kMicrosecond) {
      const OpenSpan outer = acceptor.begin(tick, request);
      acceptor.int64(0, static_cast<std::int64_t>(100 * i));
      acceptor.end(tick, acceptor.begin(tick, parse));  // in one tick
      acceptor.end(tick + 30 * kMicrosecond,
                   acceptor.begin(tick + 5 * kMicrosecond, parse));
      acceptor.flow_out(tick + 35 * kMicrosecond, sent, i + 1);
      const std::uint64_t id =
          acceptor.async_begin(tick + 36 * kMicrosecond, query);
      acceptor.counter(tick + 38 * kMicrosecond, depth,
                       static_cast<double>(i % 3));
      acceptor.end(tick + 40 * kMicrosecond, outer);

      const OpenSpan work = worker.begin(tick + 45 * kMicrosecond, handle);
      worker.flow_in(tick + 45 * kMicrosecond, taken, i + 1);
      worker.end(tick + 70 * kMicrosecond,
                 worker.begin(tick + 50 * kMicrosecond, smile));
      worker.instant(tick + 75 * kMicrosecond, miss);
      worker.async_end(tick + 80 * kMicrosecond, query, id);
      worker.end(tick + 85 * kMicrosecond, work);
      worker.flow_in(tick + 95 * kMicrosecond, taken, 1000 + i);  // no begin
    }
    exporter.define(catalog);
    SubscriptionEnd end;
    for (SlotBuilder* slots : {&worker, &acceptor})
      if (exporter.consume(slots->run())) end.delivered += slots->records();
    exporter.anchor(anchor_at(tick));
    end.stop_tick = tick;
    end.reason = "stop";
    exporter.end(end);
  }
};

bool convert(const std::string& from, const std::string& to) {
  auto reader = exporters::TraceReader::open(from);
  return reader && exporters::convert_to_chrome_json(*reader, to);
}

}  // namespace
}  // namespace weft::test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_sample_trace NAME\n");
    return 2;
  }
  const std::string name = argv[1];
  weft::test::Sample sample;
  const bool written = sample.write(name + ".live.json") &&
                       sample.write(name + ".weft") &&
                       weft::test::convert(name + ".weft", name + ".json");
  return written ? 0 : 1;
}
