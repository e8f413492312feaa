// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "database_counts.h"
#include "open_intervals.h"
#include "weft/profile/wrapping_sum.h"

namespace weft::profile {
namespace {

constexpr std::string_view kPrefix = "CUPTI_ACTIVITY_KIND_";

class NvprofCounter {
 public:
  NvprofCounter(SqliteTables& tables, DatabaseFacts& facts)
      : tables_(tables), facts_(facts) {}

  Result<void> run() {
    facts_.page_bytes = tables_.page_bytes();
    facts_.has_runtime_calls = true;
    for (const auto step :
         {&NvprofCounter::count_rows, &NvprofCounter::read_strings,
          &NvprofCounter::read_version, &NvprofCounter::count_calls,
          &NvprofCounter::count_kernels, &NvprofCounter::count_markers,
          &NvprofCounter::read_devices}) {
      const Result<void> done = (this->*step)();
      if (!done.ok()) return done;
    }
    return count_copies(tables_, facts_);
  }

 private:
  using Thread = std::pair<std::int64_t, std::uint64_t>;
  struct Marker {
    std::int64_t start_ns;
    std::int64_t name;
    std::int64_t domain;
    Thread thread;
  };

  Result<void> count_rows() {
    for (const std::string& table : tables_.names()) {
      const Result<std::uint64_t> rows = tables_.rows_of(table);
      if (!rows.ok()) return rows.error();
      std::string_view name = table;
      if (name.substr(0, kPrefix.size()) == kPrefix) {
        name.remove_prefix(kPrefix.size());
      }
      if (*rows > 0) facts_.rows[std::string(name)] = *rows;
    }
    return {};
  }

  Result<void> read_strings() {
    return tables_.read_if_there(
        "StringTable", {{"_id_", true}, {"value", true}},
        [&](const SqliteRow& row) {
          strings_.insert_or_assign(row.integer(0), std::string(row.bytes(1)));
        });
  }

  Result<void> read_version() {
    return tables_.read_if_there(
        "Version", {{"version", true}},
        [&](const SqliteRow& row) { facts_.schema_version = row.integer(0); });
  }

  Result<void> count_calls() {
    std::map<std::int64_t, std::int64_t> callbacks;
    std::set<std::pair<std::int64_t, std::int64_t>> threads;
    const auto count = [&](const char* table, DatabaseWork& work,
                           std::set<std::int64_t>& correlations, bool runtime) {
      return tables_.read_if_there(
          table,
          {{"start", true},
           {"end", true},
           {"cbid", false},
           {"correlationId", false},
           {"processId", false},
           {"threadId", false}},
          [&, runtime](const SqliteRow& row) {
            add_interval(facts_, work, row.integer(0), row.integer(1));
            if (runtime) ++callbacks[row.integer(2)];
            correlations.insert(row.integer(3));
            threads.emplace(row.integer(4), row.integer(5));
          });
    };
    Result<void> done = count("CUPTI_ACTIVITY_KIND_RUNTIME",
                              facts_.runtime_calls, runtime_, true);
    if (!done.ok()) return done;
    done = count("CUPTI_ACTIVITY_KIND_DRIVER", facts_.driver_calls, driver_,
                 false);
    facts_.call_threads = threads.size();
    facts_.top_callbacks.assign(callbacks.begin(), callbacks.end());
    std::stable_sort(
        facts_.top_callbacks.begin(), facts_.top_callbacks.end(),
        [](const auto& a, const auto& b) { return a.second > b.second; });
    facts_.top_callbacks.resize(
        std::min(kTopNames, facts_.top_callbacks.size()));
    return done;
  }

  std::string text(std::int64_t id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? "string " + std::to_string(id)
                                   : found->second;
  }

  Result<void> count_kernels() {
    std::map<std::string, std::int64_t> times;
    std::set<std::pair<std::int64_t, std::int64_t>> streams;
    for (const char* table : {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
                              "CUPTI_ACTIVITY_KIND_KERNEL"}) {
      const Result<void> done = tables_.read_if_there(
          table,
          {{"start", true},
           {"end", true},
           {"name", true},
           {"correlationId", false},
           {"deviceId", false},
           {"streamId", false}},
          [&](const SqliteRow& row) {
            const std::int64_t before = facts_.kernels.time_ns;
            add_interval(facts_, facts_.kernels, row.integer(0),
                         row.integer(1));
            std::int64_t length = facts_.kernels.time_ns;
            subtract_wrapping(length, before);
            add_wrapping(times[text(row.integer(2))], length);
            const bool runtime = runtime_.count(row.integer(3)) != 0;
            const bool driver = driver_.count(row.integer(3)) != 0;
            facts_.kernels_with_runtime_call += runtime ? 1 : 0;
            facts_.kernels_with_driver_call += driver ? 1 : 0;
            facts_.kernels_with_any_call += runtime || driver ? 1 : 0;
            streams.emplace(row.integer(4), row.integer(5));
          });
      if (!done.ok()) return done;
    }
    facts_.top_kernels_ns = largest(times, kTopNames);
    facts_.streams.assign(streams.begin(), streams.end());
    return {};
  }

  // 4 bytes process, then 8 bytes thread.
  static Thread thread_of(std::string_view object) {
    Thread thread{0, 0};
    std::uint64_t pid = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(12, object.size()); ++i) {
      const std::uint64_t byte = static_cast<std::uint8_t>(object[i]);
      if (i < 4) {
        pid |= byte << (8 * i);
      } else {
        thread.second |= byte << (8 * (i - 4));
      }
    }
    thread.first = static_cast<std::int64_t>(pid);
    return thread;
  }

  Result<void> count_markers() {
    constexpr std::int64_t kInstant = 1;
    constexpr std::int64_t kStart = 2;
    constexpr std::int64_t kEnd = 4;
    std::unordered_map<std::int64_t, Marker> open;
    const Result<void> done = tables_.read_if_there(
        "CUPTI_ACTIVITY_KIND_MARKER",
        {{"id", true},
         {"name", true},
         {"timestamp", true},
         {"flags", true},
         {"objectId", false},
         {"domain", false}},
        [&](const SqliteRow& row) {
          ++facts_.markers.rows;
          const std::int64_t at_ns = row.integer(2);
          add_time(facts_, at_ns);
          const std::int64_t flags = row.integer(3);
          if ((flags & kInstant) != 0) ++facts_.markers.instants;
          if ((flags & kStart) != 0) {
            const Marker marker{at_ns, row.integer(1), row.integer(5),
                                thread_of(row.bytes(4))};
            if (!open.insert_or_assign(row.integer(0), marker).second) {
              ++facts_.markers.starts_alone;
            }
          } else if ((flags & kEnd) != 0) {
            const auto begin = open.find(row.integer(0));
            if (begin == open.end()) {
              ++facts_.markers.ends_alone;
              return;
            }
            add_range(begin->second, at_ns);
            open.erase(begin);
          }
        });
    facts_.markers.starts_alone += open.size();
    finish_markers();
    return done;
  }

  void add_range(const Marker& begin, std::int64_t end_ns) {
    MarkerFacts& markers = facts_.markers;
    ++markers.ranges;
    std::int64_t length = end_ns;
    subtract_wrapping(length, begin.start_ns);
    add_wrapping(markers.total_ns, length);
    ++range_names_[text(begin.name)];
    ++markers.domains[begin.domain == 0 ? "(default)" : text(begin.domain)];
    ranges_[begin.thread].emplace_back(begin.start_ns, end_ns);
  }

  void finish_markers() {
    MarkerFacts& markers = facts_.markers;
    markers.threads = ranges_.size();
    markers.top_names = largest(range_names_, kTopNames);
    const auto main = std::max_element(
        ranges_.begin(), ranges_.end(), [](const auto& a, const auto& b) {
          return a.second.size() < b.second.size();
        });
    if (main == ranges_.end()) return;
    const Overlaps overlaps = overlaps_of(main->second);
    markers.main_thread = {main->first.first, main->first.second,
                           main->second.size(), overlaps.max_depth,
                           overlaps.partial};
  }

  Result<void> read_devices() {
    return tables_.read_if_there("CUPTI_ACTIVITY_KIND_DEVICE",
                                 {{"name", true}}, [&](const SqliteRow& row) {
                                   facts_.devices.push_back(
                                       text(row.integer(0)));
                                 });
  }

  SqliteTables& tables_;
  DatabaseFacts& facts_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::set<std::int64_t> runtime_;  // correlations of calls
  std::set<std::int64_t> driver_;
  std::map<std::string, std::int64_t> range_names_;
  std::map<Thread, std::vector<Interval>> ranges_;
};

}  // namespace

Result<void> count_nvprof(SqliteTables& tables, DatabaseFacts& facts) {
  return NvprofCounter(tables, facts).run();
}

}  // namespace weft::profile
