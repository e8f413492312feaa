// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_ROWS_H_
#define WEFT_PROFILE_SRC_CHROME_ROWS_H_

// Turns trace events into rows: pairs begins with ends, gives threads numbers,
// and finds the range that each piece of device work was launched in.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chrome_event_parser.h"
#include "range_index.h"
#include "weft/profile/chrome_import.h"
#include "weft/profile/raw_event.h"

namespace weft::profile {

class ChromeRows : public ChromeEventSink {
 public:
  void event(const ChromeEvent& event) override;
  // What is left of an import once all events are in. Ends the object's use.
  ChromeImport finish();

 private:
  enum class Side { kBegin, kEnd };
  // Half of a pair: of a thread's stack, or of an async range.
  struct Half {
    Side side;
    std::int64_t at_ns;
    std::size_t begun;  // of a begin, in begun_
  };
  using Pairing = std::map<std::string, std::vector<Half>>;
  struct FlowEnd {
    std::int64_t thread;
    std::int64_t at_ns;
  };

  std::int64_t thread_of(const ChromeEvent& event);
  void count(const ChromeEvent& event);
  void add_complete(const ChromeEvent& event);
  void add_half(const ChromeEvent& event);
  void add_memory(const ChromeEvent& event);
  FunctionEvent row_of(const ChromeEvent& event);
  FunctionEvent& add_row(FunctionEvent row, std::int64_t end_ns);
  void add_device_row(const ChromeEvent& event, std::int64_t end_ns);
  void pair_halves(Pairing& halves, bool async);
  void link_device_work();
  std::size_t launching_row(const RangeIndex& ranges,
                            std::size_t device_row) const;
  std::size_t row_at_flow_start(const RangeIndex& ranges,
                                const FunctionEvent& work) const;
  void charge_memory();
  void move_to_zero();
  void note(std::uint64_t count, const char* what);

  ChromeImportStatistics statistics_;
  bool any_time_ = false;
  std::vector<FunctionEvent> rows_;
  std::vector<std::string> correlation_;  // of device work, by row
  std::vector<std::string> external_id_;
  std::map<std::pair<std::string, std::string>, std::int64_t> thread_numbers_;
  std::vector<ChromeThread> threads_;
  std::vector<FunctionEvent> begun_;
  Pairing thread_halves_;
  Pairing async_halves_;
  std::unordered_map<std::string, std::size_t> call_of_;       // by correlation
  std::unordered_map<std::string, std::size_t> operation_of_;  // by external id
  std::map<std::string, FlowEnd> flow_starts_;                 // by (cat, id)
  std::map<std::pair<std::int64_t, std::int64_t>, std::string>
      flow_ends_;  // by thread and time
  std::vector<MemoryRecord> memory_;
  std::uint64_t unmatched_begins_ = 0;
  std::uint64_t unmatched_ends_ = 0;
  std::uint64_t profiler_spans_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_ROWS_H_
