// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_EVENT_LIST_H_
#define WEFT_PROFILE_EVENT_LIST_H_

// The rows of one profile: a tree of host ranges, device work beside them, and
// everything that is computed from them.
//
// A range is the child of the innermost range of its thread and node that
// holds it entirely, [start, end] within [start, end]; of equal ranges the one
// recorded first is the parent. Rows that overlap otherwise have no relation.
//
//   thread 1   |request -------------------|        |next ---|
//              |decode --||render --------|
//                 |inflate|
//
//   self time  = own time less the children's
//   device time = kernels started here plus the children's
//
// Invariants, once constructed:
//   I1  children[i] of row p have parent p, and the other way round.
//   I2  only host rows that are not asynchronous have parents or children.
//   I3  the sum of self CPU times = the sum of the root ranges' times (no range
//       has negative length under Rules::kWeft).
//   I4  nothing changes: every query may be asked again and answers the same.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "weft/profile/event_list_options.h"
#include "weft/profile/function_event.h"
#include "weft/profile/key_averages.h"
#include "weft/profile/table_options.h"
#include "weft/result.h"

namespace weft {

// Of what the rows of a list say that cannot be right or complete.
struct EventListStatistics {
  std::uint64_t clock_errors = 0;      // ends before begins, cut to length 0
  std::uint64_t partial_overlaps = 0;  // ranges of a thread that do not nest
  std::uint64_t merged_duplicates = 0;
  std::uint64_t unfinished = 0;
};

enum class StackMetric : std::uint8_t {
  kSelfCpuTimeTotal,
  kSelfDeviceTimeTotal,  // all device families
  kSelfCudaTimeTotal,
  kSelfXpuTimeTotal,
  kSelfPrivateuse1TimeTotal,
};

// Errors: kInvalidArgument  no metric has this name
[[nodiscard]] Result<StackMetric> parse_stack_metric(std::string_view name);

struct StackOptions {
  StackMetric metric = StackMetric::kSelfCpuTimeTotal;
  bool aggregate = false;  // one line for equal stacks instead of one an event
  bool with_leaf = false;  // the event's name as innermost frame
};

enum class ChromeForm : std::uint8_t {
  kComplete,       // slices, device rows, async pairs, arrows with both ends
  kReferenceList,  // the array of PyTorch 2.2.2 without its device tracer
  kReference2017,  // the array of 2017: host slice, arrow, device slice
};

class EventList {
 public:
  EventList() = default;
  // Keeps the order of the rows.
  explicit EventList(std::vector<FunctionEvent> events,
                     EventListOptions options = {});

  const std::vector<FunctionEvent>& events() const noexcept { return events_; }
  const EventListOptions& options() const noexcept { return options_; }
  const EventListStatistics& statistics() const noexcept { return statistics_; }
  bool empty() const noexcept { return events_.empty(); }
  std::size_t size() const noexcept { return events_.size(); }
  const FunctionEvent& operator[](std::size_t i) const { return events_[i]; }
  auto begin() const noexcept { return events_.begin(); }
  auto end() const noexcept { return events_.end(); }

  // In order of first appearance. A range nested in one of its own key does not
  // add to the key's totals, which would count its time twice.
  KeyAverages key_averages(const KeyOptions& options = {}) const;

  // All rows as one with the key "Total". Only its self times mean anything:
  // the others count nested time once a level.
  FunctionEventAvg total_average() const;

  // With one thread the time covered by ranges; with several their sum.
  std::int64_t self_cpu_time_total_ns() const noexcept;

  // A row an event; averages are usually what a person wants. Empty for no
  // rows.
  std::string table(const TableOptions& options = {}) const;

  // Folded stacks, a line each: "outermost;...;innermost microseconds". Events
  // without a stack or below 1 us are left out.
  void write_stacks(std::ostream& out, const StackOptions& options = {}) const;
  void write_chrome_trace(std::ostream& out,
                          ChromeForm form = ChromeForm::kComplete) const;

  // As above, into a file that appears when it is complete. A path that ends in
  // ".gz" is compressed.
  //
  // Errors: kIo  the file cannot be written; the message has path and reason
  Result<void> export_stacks(const std::string& path,
                             const StackOptions& options = {}) const;
  Result<void> export_chrome_trace(
      const std::string& path, ChromeForm form = ChromeForm::kComplete) const;

 private:
  std::vector<FunctionEvent> events_;
  EventListOptions options_;
  EventListStatistics statistics_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_EVENT_LIST_H_
