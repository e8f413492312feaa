// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/chrome_facts.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "chrome_counters.h"
#include "chrome_event_source.h"
#include "chrome_pairs.h"
#include "inflating_reader.h"
#include "name_table.h"
#include "open_intervals.h"
#include "pytorch_counts.h"
#include "text_scan.h"
#include "weft/profile/raw_event.h"
#include "weft/profile/wrapping_sum.h"

namespace weft {
namespace {

using profile::ChromeEvent;
using profile::ChromeListState;
using profile::ChromeSourceReport;
using profile::Interval;

constexpr std::size_t kTop = 3;

class Counter : public profile::ChromeEventSink {
 public:
  void event(const ChromeEvent& event) override {
    ++facts_.event_objects;
    ++facts_.by_phase[std::string(event.phase)];
    if (event.phase == "M") {
      ++facts_.metadata_by_name[std::string(event.name)];
      return;
    }
    pids_.number_of(event.pid);
    const std::uint32_t thread =
        threads_.number_of(profile::joined_key({event.pid, event.tid}));
    if (thread == of_thread_.size()) {
      of_thread_.push_back(
          {std::string(event.pid), std::string(event.tid), {}});
    }
    if (event.start_ns) count_time(*event.start_ns);
    if (event.is_complete()) {
      count_complete(event, thread);
    } else {
      count_other(event);
    }
  }

  ChromeFacts facts(const ChromeSourceReport& report) {
    facts_.inflated_bytes = report.inflated_bytes;
    facts_.entries = report.entries;
    facts_.form = static_cast<ChromeFileForm>(report.form);
    facts_.state = static_cast<ChromeFileState>(report.state);
    facts_.skipped = report.skipped;
    facts_.pids = pids_.size();
    facts_.threads = threads_.size();
    facts_.top_names = profile::top_names(names_, name_counts_, kTop);
    find_busiest_thread();
    if (!begin_end_.empty()) facts_.begin_end = begin_end_.facts();
    if (!async_.empty() || facts_.async_instants > 0) {
      facts_.async = async_.facts();
    }
    if (!legacy_async_.empty()) facts_.legacy_async = legacy_async_.facts();
    facts_.flows = flows_.facts();
    facts_.series = counters_.facts();
    if (pytorch_.any()) facts_.pytorch = pytorch_.facts(report.members);
    count_members(report.members);
    return std::move(facts_);
  }

 private:
  struct Thread {
    std::string pid;
    std::string tid;
    std::vector<Interval> complete;
  };

  void count_time(std::int64_t ns) {
    if (ns < 0) ++facts_.negative_times;
    facts_.first_ns = std::min(facts_.first_ns.value_or(ns), ns);
    facts_.last_ns = std::max(facts_.last_ns.value_or(ns), ns);
  }

  void count_complete(const ChromeEvent& event, std::uint32_t thread) {
    if (!event.start_ns) {
      ++facts_.complete_with_bad_time;
      return;
    }
    std::int64_t end_ns = 0;
    if (!event.duration_ns ||
        __builtin_add_overflow(*event.start_ns, *event.duration_ns, &end_ns)) {
      ++facts_.complete_without_duration;
      return;
    }
    ++facts_.complete_events;
    facts_.last_ns = std::max(*facts_.last_ns, end_ns);
    add_wrapping(facts_.total_complete_ns, *event.duration_ns);
    ++facts_.complete_by_category[event.has_category
                                      ? std::string(event.category)
                                      : "(none)"];
    const std::uint32_t name = names_.number_of(event.name);
    if (name >= name_counts_.size()) name_counts_.resize(std::size_t{name} + 1);
    ++name_counts_[name];
    of_thread_[thread].complete.emplace_back(*event.start_ns, end_ns);
    pytorch_.add_complete(event, end_ns);
  }

  void count_other(const ChromeEvent& event) {
    if (event.phase.size() != 1) return;
    switch (event.phase.front()) {
      case 'i':
      case 'I':
      case 'R':
        count_instant(event);
        break;
      case 'C':
        counters_.add(event);
        break;
      case 'n':
        ++facts_.async_instants;
        break;
      case 's':
      case 't':
      case 'f':
        if (event.start_ns) flows_.add(event);
        break;
      case 'B':
      case 'E':
        if (event.start_ns) {
          begin_end_.add(profile::joined_key({event.pid, event.tid}), event,
                         event.phase == "B");
        }
        break;
      case 'b':
      case 'e':
        if (event.start_ns) {
          async_.add(async_key(event), event, event.phase == "b");
        }
        break;
      case 'S':
      case 'F':
        if (event.start_ns) {
          legacy_async_.add(async_key(event), event, event.phase == "S");
        }
        break;
      default:
        break;
    }
  }

  static std::string async_key(const ChromeEvent& event) {
    return profile::joined_key({event.category, event.id, event.scope,
                                event.name, event.id_is_local ? "local" : "",
                                event.id_is_local ? event.pid : ""});
  }

  void count_instant(const ChromeEvent& event) {
    std::string scope(event.phase);
    scope += ' ';
    scope += event.instant_scope.empty() ? "(none)" : event.instant_scope;
    ++facts_.instants_by_scope[scope];
    if (event.name == kMemoryRecord) pytorch_.add_memory(event);
  }

  void find_busiest_thread() {
    const auto busiest = std::max_element(
        of_thread_.begin(), of_thread_.end(),
        [](const Thread& a, const Thread& b) {
          if (a.complete.size() != b.complete.size()) {
            return a.complete.size() < b.complete.size();
          }
          return std::tie(a.pid, a.tid) > std::tie(b.pid, b.tid);
        });
    if (busiest == of_thread_.end() || busiest->complete.empty()) return;
    const std::uint64_t events = busiest->complete.size();
    const profile::Overlaps overlaps =
        profile::overlaps_of(std::move(busiest->complete));
    facts_.busiest_thread = {busiest->pid, busiest->tid, events,
                             overlaps.max_depth, overlaps.partial};
  }

  void count_members(const std::map<std::string, std::string>& members) {
    simdjson::dom::parser parser;
    simdjson::dom::array samples;
    simdjson::dom::object frames;
    const auto text = [&](const char* name) {
      const auto found = members.find(name);
      return found == members.end() ? std::string() : found->second;
    };
    if (parser.parse(text("samples")).get(samples) == simdjson::SUCCESS) {
      facts_.samples = samples.size();
    }
    if (parser.parse(text("stackFrames")).get(frames) == simdjson::SUCCESS) {
      facts_.stack_frames = frames.size();
    }
  }

  ChromeFacts facts_;
  profile::NameTable names_;
  std::vector<std::int64_t> name_counts_;
  profile::NameTable pids_;
  profile::NameTable threads_;
  std::vector<Thread> of_thread_;
  profile::ChromePairs begin_end_;
  profile::ChromePairs async_;
  profile::ChromePairs legacy_async_;
  profile::ChromeFlows flows_;
  profile::ChromeCounters counters_;
  profile::PytorchCounts pytorch_;
};

}  // namespace

Result<ChromeFacts> chrome_facts(const std::string& path,
                                 const ChromeImportOptions& options) {
  Result<profile::InflatingReader> reader =
      profile::InflatingReader::open(path);
  if (!reader.ok()) return reader.error();
  Counter counter;
  const Result<ChromeSourceReport> report =
      profile::read_chrome_events(*reader, options, counter);
  if (!report.ok()) {
    return Error{report.error().code, path + ": " + report.error().message};
  }
  ChromeFacts facts = counter.facts(*report);
  if (report->state == ChromeListState::kNone &&
      report->form != profile::ChromeListForm::kEmpty) {
    facts.is_trace = false;
    facts.state = ChromeFileState::kValid;
  }
  const bool broken = report->state == ChromeListState::kBroken;
  Result<profile::InflatingReader> again = profile::InflatingReader::open(path);
  if (!again.ok()) return again.error();
  const profile::TextScan scan =
      profile::scan_text(*again, broken ? report->broken_offset : 0);
  if (broken) facts.broken_at = scan.characters;
  facts.invalid_utf8_at = scan.invalid_utf8_at;
  return facts;
}

}  // namespace weft
