// SPDX-License-Identifier: Apache-2.0
#include "pytorch_counts.h"

#include <simdjson.h>

#include <algorithm>

#include "weft/profile/wrapping_sum.h"

namespace weft::profile {
namespace {

constexpr std::size_t kTop = 3;
constexpr std::size_t kShownSteps = 6;

enum class Kind {
  kOther,
  kKernel,
  kCopy,
  kSet,
  kCall,
  kOperator,
  kPython,
  kUserAnnotation,
  kDeviceAnnotation,
};

Kind kind_of(std::string_view category) {
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"cpu_op", Kind::kOperator},       {"Operator", Kind::kOperator},
      {"kernel", Kind::kKernel},         {"Kernel", Kind::kKernel},
      {"gpu_memcpy", Kind::kCopy},       {"Memcpy", Kind::kCopy},
      {"gpu_memset", Kind::kSet},        {"Memset", Kind::kSet},
      {"cuda_runtime", Kind::kCall},     {"cuda_driver", Kind::kCall},
      {"Runtime", Kind::kCall},          {"python_function", Kind::kPython},
      {"user_annotation", Kind::kUserAnnotation},
      {"gpu_user_annotation", Kind::kDeviceAnnotation},
  };
  for (const auto& [name, kind] : kKinds) {
    if (name == category) return kind;
  }
  return Kind::kOther;
}

bool is_step(const ChromeEvent& event) {
  return event.name.substr(0, 13) == "ProfilerStep#";
}

void add_to(std::vector<std::int64_t>& counts, std::uint32_t name,
            std::int64_t value) {
  if (name >= counts.size()) counts.resize(std::size_t{name} + 1);
  add_wrapping(counts[name], value);
}

std::uint64_t known_of(const std::vector<std::string>& ids,
                       const std::unordered_set<std::string>& known) {
  return static_cast<std::uint64_t>(
      std::count_if(ids.begin(), ids.end(), [&](const std::string& id) {
        return !id.empty() && known.count(id) != 0;
      }));
}

using Json = simdjson::dom::element;

// A member of the file as JSON, if it is there and sound.
bool parse_member(const std::map<std::string, std::string>& members,
                  const char* name, simdjson::dom::parser& parser, Json& out) {
  const auto found = members.find(name);
  return found != members.end() &&
         parser.parse(found->second).get(out) == simdjson::SUCCESS;
}

std::optional<std::int64_t> integer_at(Json object, const char* key) {
  std::int64_t value = 0;
  if (object.at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::string text_at(Json object, const char* key) {
  std::string_view text;
  if (object.at_key(key).get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

void read_members(const std::map<std::string, std::string>& members,
                  PytorchFacts& facts) {
  simdjson::dom::parser parser;
  Json json;
  std::int64_t number = 0;
  if (parse_member(members, "baseTimeNanoseconds", parser, json) &&
      json.get(number) == simdjson::SUCCESS) {
    facts.base_time_ns = number;
  }
  simdjson::dom::array devices;
  if (parse_member(members, "deviceProperties", parser, json) &&
      json.get(devices) == simdjson::SUCCESS) {
    facts.devices = devices.size();
    Json first;
    if (devices.at(0).get(first) == simdjson::SUCCESS) {
      facts.device_name = text_at(first, "name");
    }
  }
  if (parse_member(members, "distributedInfo", parser, json) &&
      json.is_object()) {
    facts.distributed = {text_at(json, "backend"), integer_at(json, "rank"),
                         integer_at(json, "world_size")};
  }
}

}  // namespace

std::vector<NameCount> top_names(const NameTable& names,
                                 const std::vector<std::int64_t>& counts,
                                 std::size_t limit) {
  std::vector<NameCount> all;
  for (std::uint32_t name = 0; name < counts.size(); ++name) {
    if (counts[name] != 0) all.emplace_back(names.text(name), counts[name]);
  }
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(
                                     std::min(limit, all.size()));
  std::partial_sort(all.begin(), end, all.end(),
                    [](const NameCount& a, const NameCount& b) {
                      return a.second != b.second ? a.second > b.second
                                                  : a.first < b.first;
                    });
  all.erase(end, all.end());
  return all;
}

void PytorchCounts::add_complete(const ChromeEvent& event,
                                 std::int64_t end_ns) {
  const Kind kind = kind_of(event.category);
  any_ = any_ || kind != Kind::kOther;
  switch (kind) {
    case Kind::kKernel:
      add_work(event, end_ns, facts_.kernels);
      add_kernel(event);
      break;
    case Kind::kCopy:
      add_work(event, end_ns, facts_.copies);
      break;
    case Kind::kSet:
      add_work(event, end_ns, facts_.sets);
      break;
    case Kind::kDeviceAnnotation:
      ++facts_.device_annotations;
      break;
    case Kind::kCall:
      ++facts_.calls.count;
      add_wrapping(facts_.calls.total_ns, *event.duration_ns);
      call_correlations_.emplace(event.correlation);
      calls_.emplace_back(event.correlation);
      threads_[{std::string(event.pid), std::string(event.tid)}]
          .calls.emplace_back(*event.start_ns, end_ns);
      break;
    case Kind::kOperator:
    case Kind::kPython:
    case Kind::kUserAnnotation:
      add_host(event, end_ns);
      break;
    case Kind::kOther:
      return;
  }
  if (is_step(event)) {
    steps_.push_back({*event.start_ns,
                      {std::string(event.category), std::string(event.name),
                       *event.duration_ns}});
  }
}

void PytorchCounts::add_work(const ChromeEvent& event, std::int64_t end_ns,
                             ChromeWorkFacts& work) {
  ++work.count;
  add_wrapping(work.total_ns, *event.duration_ns);
  add_wrapping(work.bytes, whole_number(event.bytes).value_or(0));
  ++streams_[{std::string(event.device), std::string(event.stream)}];
  // The row of device work is its device, where no argument says it.
  work_[std::string(event.device.empty() ? event.pid : event.device)]
      .emplace_back(*event.start_ns, end_ns);
  work_correlations_.emplace(event.correlation);
  work_launches_.emplace_back(event.correlation);
}

void PytorchCounts::add_kernel(const ChromeEvent& event) {
  add_to(kernel_ns_, names_.number_of(event.name), *event.duration_ns);
  kernel_launches_.emplace_back(event.correlation);
  kernel_operators_.emplace_back(event.external_id);
}

void PytorchCounts::add_host(const ChromeEvent& event, std::int64_t end_ns) {
  Thread& thread =
      threads_[{std::string(event.pid), std::string(event.tid)}];
  ++thread.events;
  thread.ranges.emplace_back(*event.start_ns, end_ns);
  if (event.category == "user_annotation") {
    ++facts_.user_annotations;
  } else if (event.category == "python_function") {
    ++facts_.python_functions;
  } else {
    thread.operators.emplace_back(*event.start_ns, end_ns);
    if (is_step(event)) return;
    operator_ids_.emplace(event.external_id);
    ++facts_.operators;
    add_to(operator_counts_, names_.number_of(event.name), 1);
  }
}

void PytorchCounts::add_memory(const ChromeEvent& event) {
  any_ = true;
  ++facts_.memory_events;
  const std::int64_t bytes = whole_number(event.bytes).value_or(0);
  if (bytes > 0) ++facts_.allocations;
  if (bytes < 0) ++facts_.releases;
  add_wrapping(facts_.net_bytes["type " + std::string(event.device_type) +
                                " id " + std::string(event.device)],
               bytes);
}

void PytorchCounts::count_links() {
  facts_.kernels_with_launch = known_of(kernel_launches_, call_correlations_);
  facts_.work_with_launch = known_of(work_launches_, call_correlations_);
  facts_.calls_that_started_work = known_of(calls_, work_correlations_);
  facts_.kernels_of_known_operators =
      known_of(kernel_operators_, operator_ids_);
}

void PytorchCounts::find_main_thread() {
  auto main = threads_.end();
  for (auto thread = threads_.begin(); thread != threads_.end(); ++thread) {
    if (thread->second.events > 0 &&
        (main == threads_.end() ||
         thread->second.events > main->second.events)) {
      main = thread;
    }
  }
  if (main == threads_.end()) return;
  std::vector<Interval> all = main->second.ranges;
  all.insert(all.end(), main->second.calls.begin(), main->second.calls.end());
  const Overlaps overlaps = overlaps_of(std::move(all));
  facts_.main_thread = {main->first.first, main->first.second,
                        main->second.events, overlaps.max_depth,
                        overlaps.partial};
  facts_.main_operator_depth =
      overlaps_of(std::move(main->second.operators)).max_depth;
}

PytorchFacts PytorchCounts::facts(
    const std::map<std::string, std::string>& members) {
  count_links();
  find_main_thread();
  for (const auto& [stream, count] : streams_) facts_.streams.push_back(stream);
  for (auto& [device, intervals] : work_) {
    facts_.busy_ns[device] = union_length(std::move(intervals));
  }
  facts_.top_operators = top_names(names_, operator_counts_, kTop);
  facts_.top_kernels_ns = top_names(names_, kernel_ns_, kTop);
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const Step& a, const Step& b) {
                     return a.start_ns < b.start_ns;
                   });
  facts_.step_events = steps_.size();
  for (std::size_t i = 0; i < std::min(kShownSteps, steps_.size()); ++i) {
    facts_.first_steps.push_back(steps_[i].step);
  }
  read_members(members, facts_);
  return std::move(facts_);
}

}  // namespace weft::profile
