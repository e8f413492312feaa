// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_CHROME_FACTS_H_
#define WEFT_PROFILE_CHROME_FACTS_H_

// What a Chrome JSON file holds, counted: kinds of events, times, threads,
// pairs, arrows, counters, and what PyTorch says of devices and memory. Nothing
// is interpreted: the figures are those of the file, to the nanosecond.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/profile/chrome_import.h"
#include "weft/result.h"

namespace weft {

// "7 times aten::add": largest first, equals by name.
using NameCount = std::pair<std::string, std::int64_t>;

// The complete events of one thread.
struct ChromeThreadFacts {
  std::string pid;
  std::string tid;
  std::uint64_t events = 0;
  std::uint64_t max_depth = 0;         // most of them open at once
  std::uint64_t partial_overlaps = 0;  // begin inside one and end after it
};

// Begins and ends, last in, first out.
struct ChromePairFacts {
  std::uint64_t pairs = 0;
  std::uint64_t begins_alone = 0;
  std::uint64_t ends_alone = 0;
  std::uint64_t names_differ = 0;
  std::uint64_t max_depth = 0;
  std::int64_t total_ns = 0;
};

struct ChromeFlowFacts {
  std::uint64_t starts = 0;
  std::uint64_t steps = 0;
  std::uint64_t ends = 0;
  // Ids, by which ends of an arrow they have.
  std::uint64_t ids_with_both = 0;
  std::uint64_t ids_end_only = 0;
  std::uint64_t ids_start_only = 0;
  std::uint64_t arrows = 0;  // when walked in the order of time
};

struct ChromeSeriesFacts {
  std::string pid;
  std::string name;  // "name[id]" if it has an id
  std::string key;
  std::uint64_t samples = 0;
  // As the file writes them, less signs and zeros that say nothing.
  std::string min;
  std::string max;
};

// Work of one kind on devices.
struct ChromeWorkFacts {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t bytes = 0;
};

struct PytorchFacts {
  ChromeWorkFacts kernels;
  ChromeWorkFacts copies;
  ChromeWorkFacts sets;
  ChromeWorkFacts calls;  // of the runtime and the driver
  std::uint64_t kernels_with_launch = 0;
  std::uint64_t work_with_launch = 0;
  std::uint64_t calls_that_started_work = 0;
  std::uint64_t kernels_of_known_operators = 0;
  std::vector<std::pair<std::string, std::string>> streams;  // device, stream
  std::map<std::string, std::int64_t> busy_ns;  // by device; union of work
  std::uint64_t operators = 0;
  std::uint64_t python_functions = 0;
  std::uint64_t user_annotations = 0;
  std::uint64_t device_annotations = 0;
  std::vector<NameCount> top_operators;   // by count
  std::vector<NameCount> top_kernels_ns;  // by time
  // The thread with most operators and ranges. `events` counts those; depth
  // and overlaps are of the calls as well, main_operator_depth of operators.
  std::optional<ChromeThreadFacts> main_thread;
  std::uint64_t main_operator_depth = 0;
  struct Step {
    std::string category;
    std::string name;
    std::int64_t duration_ns;
  };
  std::vector<Step> first_steps;  // six at most, by time
  std::uint64_t step_events = 0;
  std::uint64_t memory_events = 0;
  std::uint64_t allocations = 0;
  std::uint64_t releases = 0;
  std::map<std::string, std::int64_t> net_bytes;  // "type 0 id -1"
  std::optional<std::int64_t> base_time_ns;
  std::optional<std::uint64_t> devices;
  std::string device_name;  // of the first
  struct Distributed {
    std::string backend;
    std::optional<std::int64_t> rank;
    std::optional<std::int64_t> world_size;
  };
  std::optional<Distributed> distributed;
};

enum class ChromeFileForm : std::uint8_t { kEmpty, kArray, kObject, kLines };

enum class ChromeFileState : std::uint8_t {
  kEmpty,
  kValid,
  kRepaired,      // commas were missing in the list, or too many
  kUnterminated,  // the list has no end
  kBroken,        // it ends inside an event, or before one that is not JSON
};

struct ChromeFacts {
  std::uint64_t inflated_bytes = 0;
  ChromeFileForm form = ChromeFileForm::kEmpty;
  ChromeFileState state = ChromeFileState::kEmpty;
  bool is_trace = true;                // false: an object without a list
  std::optional<std::uint64_t> broken_at;       // character of the text
  std::optional<std::uint64_t> invalid_utf8_at;  // byte of the text
  std::uint64_t entries = 0;
  std::uint64_t event_objects = 0;
  std::map<std::string, std::uint64_t> by_phase;
  std::uint64_t complete_events = 0;
  std::uint64_t complete_with_bad_time = 0;
  std::uint64_t complete_without_duration = 0;
  std::map<std::string, std::uint64_t> complete_by_category;
  std::int64_t total_complete_ns = 0;
  // Of all events but metadata.
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;
  std::uint64_t negative_times = 0;
  std::uint64_t pids = 0;
  std::uint64_t threads = 0;
  std::vector<NameCount> top_names;  // three
  std::optional<ChromeThreadFacts> busiest_thread;
  std::optional<ChromePairFacts> begin_end;
  std::optional<ChromePairFacts> async;         // b and e
  std::uint64_t async_instants = 0;             // n
  std::optional<ChromePairFacts> legacy_async;  // S and F
  std::map<std::string, ChromeFlowFacts> flows;  // by category
  std::vector<ChromeSeriesFacts> series;         // by pid, name and key
  std::map<std::string, std::uint64_t> instants_by_scope;  // "i t"
  std::map<std::string, std::uint64_t> metadata_by_name;
  std::optional<std::uint64_t> samples;       // beside the list of events
  std::optional<std::uint64_t> stack_frames;
  std::optional<PytorchFacts> pytorch;
  std::vector<std::string> skipped;  // what was not read and why
};

// Memory grows with the events, 48 bytes each.
//
// Errors: as import_chrome_trace; an object without a list is none, see
// is_trace
[[nodiscard]] Result<ChromeFacts> chrome_facts(
    const std::string& path, const ChromeImportOptions& options = {});

}  // namespace weft

#endif  // WEFT_PROFILE_CHROME_FACTS_H_
