// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/chrome_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "chrome_event_source.h"
#include "chrome_kinds.h"
#include "chrome_pairs.h"
#include "compact_rows.h"
#include "first_by_id.h"
#include "inflating_reader.h"
#include "launch_owner.h"
#include "weft/profile/raw_event.h"
#include "weft/profile/wrapping_sum.h"

namespace weft {
namespace {

using profile::ChromeEvent;
using profile::ChromeKind;
using profile::CompactRow;
using profile::CompactRows;
using profile::CompactUsage;
using profile::FirstById;

class Summarizer : public profile::ChromeEventSink {
 public:
  void event(const ChromeEvent& event) override {
    count(event);
    if (event.is_complete()) {
      add_complete(event);
    } else if (event.start_ns && event.phase.size() == 1) {
      add_other(event);
    }
  }

  ChromeSummary finish() {
    pair_halves(thread_halves_, false);
    pair_halves(async_halves_, true);
    rows_.link();
    own_work();
    charge_memory();
    ChromeSummary summary;
    finish_statistics();
    note(statistics_.complete_without_times,
         "complete events without a usable time or duration");
    note(begins_alone_, "begins without an end");
    note(ends_alone_, "ends without a begin");
    note(profiler_spans_, "spans of the profiler itself");
    EventListOptions options;
    options.profile_memory = !memory_.empty();
    options.remove_duplicates = false;
    summary.averages = KeyAverages(rows_.averages(), options);
    summary.statistics = std::move(statistics_);
    summary.skipped = std::move(notes_);
    return summary;
  }

 private:
  struct Work {
    std::uint32_t row;
    std::uint64_t launch;     // as calls_ has it
    std::uint64_t operation;  // as operations_ has it
  };
  struct Half {
    std::int64_t at_ns;
    bool begins;
    CompactRow row;  // of a begin
  };
  struct FlowPoint {
    std::int64_t at_ns;
    std::uint32_t thread;
    std::uint32_t flow;
    bool starts;
  };
  struct Memory {
    std::int64_t at_ns;
    std::uint32_t thread;
    CompactUsage usage;
  };
  using Halves = std::map<std::string, std::vector<Half>>;

  void count(const ChromeEvent& event) {
    ++statistics_.event_objects;
    if (event.phase.size() == 1) {
      ++phases_[static_cast<unsigned char>(event.phase.front())];
    } else {
      ++statistics_.by_phase[std::string(event.phase)];
    }
    if (event.phase == "M" || !event.start_ns) return;
    std::int64_t end_ns = *event.start_ns;
    if (event.is_complete()) {
      end_ns = std::max(end_ns, profile::end_of(event).value_or(end_ns));
    }
    if (!any_time_) {
      statistics_.first_ns = *event.start_ns;
      statistics_.last_ns = end_ns;
      any_time_ = true;
    }
    statistics_.first_ns = std::min(statistics_.first_ns, *event.start_ns);
    statistics_.last_ns = std::max(statistics_.last_ns, end_ns);
  }

  std::uint32_t thread_of(const ChromeEvent& event) {
    if (event.pid != last_pid_ || event.tid != last_tid_ ||
        last_thread_ == CompactRow::kNone) {
      last_pid_ = event.pid;
      last_tid_ = event.tid;
      last_thread_ =
          threads_.number_of(profile::joined_key({event.pid, event.tid}));
    }
    return last_thread_;
  }

  CompactRow row_of(const ChromeEvent& event, std::int64_t end_ns) {
    CompactRow row;
    row.start_ns = *event.start_ns;
    row.end_ns = std::max(row.start_ns, end_ns);
    row.name = rows_.names().number_of(profile::row_name(event.name));
    row.thread = thread_of(event);
    row.is_user_scope = event.category == "user_annotation";
    return row;
  }

  void add_complete(const ChromeEvent& event) {
    const auto end_ns = profile::end_of(event);
    if (!end_ns) {
      ++statistics_.complete_without_times;
      return;
    }
    ++statistics_.complete_events;
    add_wrapping(statistics_.total_complete_time_ns, *event.duration_ns);
    const ChromeKind kind = profile::kind_of(event);
    if (kind == ChromeKind::kProfiler) {
      ++profiler_spans_;
      return;
    }
    CompactRow row = row_of(event, *end_ns);
    row.is_annotation = kind == ChromeKind::kDeviceAnnotation;
    row.is_device = row.is_annotation || kind == ChromeKind::kDeviceWork;
    const std::uint32_t at = rows_.add(row);
    if (kind == ChromeKind::kDeviceWork) {
      work_.push_back({at, calls_.key_of(event.correlation),
                       operations_.key_of(event.external_id)});
    } else if (kind == ChromeKind::kCall) {
      calls_.add(event.correlation, at);
    } else if (kind == ChromeKind::kHost) {
      operations_.add(event.external_id, at);
    }
  }

  void add_other(const ChromeEvent& event) {
    switch (event.phase.front()) {
      case 'i':
      case 'I':
        if (event.name == kMemoryRecord) add_memory(event);
        break;
      case 's':
      case 'f':
        flow_points_.push_back(
            {*event.start_ns, thread_of(event),
             flows_.number_of(profile::joined_key({event.category, event.id})),
             event.phase == "s"});
        break;
      case 'B':
      case 'E':
        add_half(thread_halves_, profile::joined_key({event.pid, event.tid}),
                 event, event.phase == "B");
        break;
      case 'b':
      case 'e':
      case 'S':
      case 'F':
        add_half(async_halves_,
                 profile::joined_key({event.category, event.id, event.scope,
                                      event.name,
                                      event.id_is_local ? event.pid : ""}),
                 event, event.phase == "b" || event.phase == "S");
        break;
      default:
        break;
    }
  }

  void add_half(Halves& halves, std::string key, const ChromeEvent& event,
                bool begins) {
    Half half{*event.start_ns, begins, {}};
    if (begins) half.row = row_of(event, *event.start_ns);
    halves[std::move(key)].push_back(half);
  }

  void add_memory(const ChromeEvent& event) {
    constexpr std::int64_t kCudaDevice = 1;
    Memory record{*event.start_ns, thread_of(event), {}};
    const std::int64_t bytes = profile::whole_number(event.bytes).value_or(0);
    if (profile::whole_number(event.device_type) == kCudaDevice) {
      record.usage.device = bytes;
    } else {
      record.usage.host = bytes;
    }
    memory_.push_back(record);
  }

  void pair_halves(Halves& all, bool async) {
    for (auto& [key, halves] : all) {
      std::stable_sort(
          halves.begin(), halves.end(),
          [](const Half& a, const Half& b) { return a.at_ns < b.at_ns; });
      std::vector<const Half*> open;
      for (const Half& half : halves) {
        if (half.begins) {
          open.push_back(&half);
        } else if (open.empty()) {
          ++ends_alone_;
        } else {
          CompactRow row = open.back()->row;
          open.pop_back();
          row.end_ns = std::max(row.start_ns, half.at_ns);
          row.is_async = async;
          rows_.add(row);
        }
      }
      begins_alone_ += open.size();
    }
  }

  // Old files have no numbers, but an arrow from the operation to its work.
  std::uint32_t row_at_flow_start(const CompactRow& work) {
    if (!flows_sorted_) {
      flows_sorted_ = true;
      for (const FlowPoint& point : flow_points_) {
        if (point.starts) {
          flow_starts_.insert_or_assign(point.flow, &point);
        } else {
          flow_ends_.insert_or_assign({point.thread, point.at_ns}, point.flow);
        }
      }
    }
    const auto end = flow_ends_.find({work.thread, work.start_ns});
    if (end == flow_ends_.end()) return CompactRow::kNone;
    const auto start = flow_starts_.find(end->second);
    if (start == flow_starts_.end()) return CompactRow::kNone;
    const FlowPoint& point = *start->second;
    return rows_.innermost(point.thread, point.at_ns, point.at_ns);
  }

  profile::HostSpan span_of(std::uint32_t row) const {
    return {rows_[row].start_ns, rows_[row].end_ns, rows_[row].is_user_scope};
  }

  std::uint32_t owner_of(const Work& work) {
    const std::uint32_t call = calls_.find(work.launch);
    const std::uint32_t operation = operations_.find(work.operation);
    if (call == FirstById::kNone) {
      return operation != FirstById::kNone ? operation
                                           : row_at_flow_start(rows_[work.row]);
    }
    const std::uint32_t around = rows_[call].parent;
    const bool in_range = around != CompactRow::kNone;
    const profile::HostSpan range =
        in_range ? span_of(around) : profile::HostSpan{};
    if (operation != FirstById::kNone &&
        profile::numbered_operation_owns(span_of(operation), span_of(call),
                                         in_range ? &range : nullptr)) {
      return operation;
    }
    return in_range ? around : call;
  }

  void own_work() {
    for (const Work& work : work_) {
      const std::uint32_t owner = owner_of(work);
      if (owner == CompactRow::kNone) {
        ++statistics_.unattributed_device_rows;
        continue;
      }
      std::int64_t length = rows_[work.row].end_ns;
      subtract_wrapping(length, rows_[work.row].start_ns);
      rows_.own(owner, length);
    }
  }

  void charge_memory() {
    std::stable_sort(
        memory_.begin(), memory_.end(),
        [](const Memory& a, const Memory& b) { return a.at_ns < b.at_ns; });
    for (const Memory& record : memory_) {
      if (rows_.charge(record.thread, record.at_ns, record.usage)) continue;
      loose_.push_back(record);
    }
    for (const Memory& record : loose_) {
      CompactRow row;
      row.start_ns = row.end_ns = record.at_ns;
      row.name = rows_.names().number_of(kMemoryRecord);
      row.thread = record.thread;
      rows_.add_loose(row, record.usage);
    }
  }

  void finish_statistics() {
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      if (phases_[i] == 0) continue;
      statistics_.by_phase[std::string(1, static_cast<char>(i))] = phases_[i];
    }
  }

  void note(std::uint64_t count, const char* what) {
    if (count > 0) notes_.push_back(fmt::format("{} {}", count, what));
  }

  ChromeImportStatistics statistics_;
  std::array<std::uint64_t, 256> phases_{};
  bool any_time_ = false;
  CompactRows rows_;
  profile::NameTable threads_;
  std::string last_pid_;
  std::string last_tid_;
  std::uint32_t last_thread_ = CompactRow::kNone;
  FirstById calls_;
  FirstById operations_;
  std::vector<Work> work_;
  Halves thread_halves_;
  Halves async_halves_;
  profile::NameTable flows_;
  std::vector<FlowPoint> flow_points_;
  bool flows_sorted_ = false;
  std::unordered_map<std::uint32_t, const FlowPoint*> flow_starts_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> flow_ends_;
  std::vector<Memory> memory_;
  std::vector<Memory> loose_;
  std::uint64_t begins_alone_ = 0;
  std::uint64_t ends_alone_ = 0;
  std::uint64_t profiler_spans_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace

Result<ChromeSummary> summarize_chrome_trace(
    const std::string& path, const ChromeImportOptions& options) {
  Result<profile::InflatingReader> reader =
      profile::InflatingReader::open(path);
  if (!reader.ok()) return reader.error();
  Summarizer summarizer;
  const Result<profile::ChromeSourceReport> report =
      profile::read_chrome_events(*reader, options, summarizer);
  if (!report.ok()) {
    return Error{report.error().code, path + ": " + report.error().message};
  }
  if (report->state == profile::ChromeListState::kNone &&
      report->form != profile::ChromeListForm::kEmpty) {
    return profile::no_chrome_list(path);
  }
  ChromeSummary summary = summarizer.finish();
  summary.skipped.insert(summary.skipped.end(), report->skipped.begin(),
                         report->skipped.end());
  return summary;
}

}  // namespace weft
