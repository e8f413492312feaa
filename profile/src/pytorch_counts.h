// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_PYTORCH_COUNTS_H_
#define WEFT_PROFILE_SRC_PYTORCH_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chrome_event.h"
#include "name_table.h"
#include "open_intervals.h"
#include "weft/profile/chrome_facts.h"

namespace weft::profile {

// Counts what PyTorch's profiler writes.
class PytorchCounts {
 public:
  void add_complete(const ChromeEvent& event, std::int64_t end_ns);
  void add_memory(const ChromeEvent& event);
  // Whether anything of it was there.
  bool any() const noexcept { return any_; }
  // `members`: of the file, beside its list of events.
  PytorchFacts facts(const std::map<std::string, std::string>& members);

 private:
  struct Thread {
    std::uint64_t events = 0;  // operators and ranges
    std::vector<Interval> ranges;
    std::vector<Interval> operators;  // of the ranges
    std::vector<Interval> calls;
  };
  struct Step {
    std::int64_t start_ns;
    PytorchFacts::Step step;
  };
  void add_work(const ChromeEvent& event, std::int64_t end_ns,
                ChromeWorkFacts& work);
  void add_kernel(const ChromeEvent& event);
  void add_host(const ChromeEvent& event, std::int64_t end_ns);
  void count_links();
  void find_main_thread();

  bool any_ = false;
  PytorchFacts facts_;
  NameTable names_;
  std::vector<std::int64_t> operator_counts_;  // by name
  std::vector<std::int64_t> kernel_ns_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> streams_;
  std::map<std::string, std::vector<Interval>> work_;  // by device
  std::map<std::pair<std::string, std::string>, Thread> threads_;
  std::unordered_set<std::string> call_correlations_;
  std::unordered_set<std::string> work_correlations_;
  std::unordered_set<std::string> operator_ids_;
  std::vector<std::string> calls_;  // correlations, one a call
  std::vector<std::string> work_launches_;
  std::vector<std::string> kernel_launches_;
  std::vector<std::string> kernel_operators_;
  std::vector<Step> steps_;
};

// The first `limit` of them: the largest, equals by name.
std::vector<NameCount> top_names(const NameTable& names,
                                 const std::vector<std::int64_t>& counts,
                                 std::size_t limit);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_PYTORCH_COUNTS_H_
