// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_EXPORT_WEFT_FILE_H_
#define WEFT_TESTS_EXPORT_WEFT_FILE_H_

// A subscription written to a .weft file, and its bytes.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "export/fake_catalog.h"
#include "export/slot_builder.h"
#include "weft/export/trace_reader.h"
#include "weft/exporter.h"

namespace weft::test {

// A path of this test alone; the file goes with the object.
class TempPath {
 public:
  explicit TempPath(const std::string& suffix) {
    static int count = 0;
    path_ = ::testing::TempDir() + "weft_" + std::to_string(getpid()) + "_" +
            std::to_string(count++) + suffix;
  }
  ~TempPath() { std::remove(path_.c_str()); }
  TempPath(const TempPath&) = delete;
  TempPath& operator=(const TempPath&) = delete;

  const std::string& str() const { return path_; }

 private:
  std::string path_;
};

using Bytes = std::vector<std::uint8_t>;

inline Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

inline void write_file(const std::string& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

// Drainer and helper of one subscription, by turns in this thread.
class Recording {
 public:
  explicit Recording(const std::string& path,
                     std::size_t block_pool_bytes = 4u << 20)
      : Recording([&] {
          OutputOptions options;
          options.path = path;
          options.block_pool_bytes = block_pool_bytes;
          return options;
        }()) {}
  explicit Recording(const OutputOptions& options) {
    weft_open_output(options, &exporter_, &error_);
    if (exporter_ == nullptr) {
      ADD_FAILURE() << error_.message;
      return;
    }
    ProcessInfo process;
    process.pid = 42;
    process.executable = "/bin/program";
    process.host = "host";
    process.clock = "tsc";
    process.tick_hz = 1e9;
    SubscriptionInfo subscription;
    subscription.name = "default";
    subscription.start_tick = 1;
    exporter_->begin(process, subscription);
  }

  FakeCatalog& catalog() { return catalog_; }
  Exporter& exporter() { return *exporter_; }
  SubscriptionEnd& end() { return end_; }

  // As the drainer: what is refused is counted and told.
  bool add(SlotBuilder& slots) {
    exporter_->define(catalog_);
    catalog_.forget_news();
    const bool taken = exporter_->consume(slots.run());
    if (taken) {
      end_.delivered += slots.records();
      slots.drained();
    } else {
      const std::uint64_t records = slots.records();
      slots.drained();
      lose({slots.run().thread, slots.position(), records,
            DropReason::kSlowSink});
    }
    return taken;
  }
  void lose(const Loss& loss) {
    end_.dropped[static_cast<std::size_t>(loss.reason)] += loss.records;
    exporter_->lose(loss);
  }
  void work() {
    while (exporter_->work()) {
    }
  }
  void flush() {
    exporter_->settle(now_ns_ += 1'000'000'000);
    work();
  }
  ExporterStatus close(const std::string& reason = "stop") {
    end_.reason = reason;
    end_.stop_tick = 1'000'000;
    exporter_->define(catalog_);
    exporter_->end(end_);
    work();
    return exporter_->status();
  }

 private:
  FakeCatalog catalog_;
  std::unique_ptr<Exporter> exporter_;
  Error error_;
  SubscriptionEnd end_;
  std::int64_t now_ns_ = 1;
};

inline ClockAnchor anchor_at(Ticks tick, std::int64_t ns) {
  ClockAnchor anchor;
  for (std::size_t clock = 0; clock < kClocks; ++clock) {
    anchor.tick[clock] = tick;
    anchor.ns[clock] = ns;
    anchor.half_width[clock] = 20;
  }
  return anchor;
}

// A small file with something of everything, in several blocks.
inline Bytes small_trace() {
  const TempPath path(".weft");
  Recording recording(path.str());
  FakeCatalog& catalog = recording.catalog();
  const SiteId outer = catalog.add_site(SiteKind::kSpan, "outer", "test",
                                        {{"bytes", RecordKind::kInt64}});
  const SiteId inner = catalog.add_site(SiteKind::kSpan, "inner");
  const SiteId depth = catalog.add_site(SiteKind::kCounter, "depth");
  catalog.add_metadata("version", "1.2.3");
  SlotBuilder one(catalog.add_thread("main", 100));
  SlotBuilder two(catalog.add_thread("worker", 101));
  recording.exporter().anchor(anchor_at(1, 1000));
  Ticks tick = 10;
  for (int block = 0; block < 3; ++block) {
    for (SlotBuilder* slots : {&one, &two}) {
      const OpenSpan span = slots->begin(tick += 10, outer);
      slots->int64(0, block);
      slots->end(tick + 2, slots->begin(tick + 1, inner));
      slots->counter(tick += 3, depth, 0.5 * block);
      slots->instant(tick += 4, inner, catalog.add_string("dynamic"));
      slots->end(tick += 5, span);
      recording.add(*slots);
    }
    if (block == 1)
      recording.lose({ThreadIndex{1}, one.position(), 5, DropReason::kRingFull});
    recording.flush();
  }
  recording.exporter().anchor(anchor_at(tick, 5000));
  recording.close();
  return read_file(path.str());
}

inline std::string words(
    const std::vector<exporters::TraceProblem>& problems) {
  std::string text;
  for (const auto& problem : problems)
    text += std::to_string(problem.offset) + ": " + problem.what + "\n";
  return text;
}

}  // namespace weft::test

#endif  // WEFT_TESTS_EXPORT_WEFT_FILE_H_
