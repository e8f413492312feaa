// SPDX-License-Identifier: Apache-2.0
// Folded stacks: one line a stack, for flame graphs.

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "output_file.h"
#include "weft/profile/event_list.h"

namespace weft {
namespace {

constexpr std::int64_t kNsPerUs = 1000;

std::int64_t metric_ns(const FunctionEvent& event, StackMetric metric) {
  const PerFamily& device = event.self_device_time_total_ns;
  switch (metric) {
    case StackMetric::kSelfCpuTimeTotal:
      return event.self_cpu_time_total_ns;
    case StackMetric::kSelfDeviceTimeTotal:
      return device.sum();
    case StackMetric::kSelfCudaTimeTotal:
      return device[DeviceFamily::kCuda];
    case StackMetric::kSelfXpuTimeTotal:
      return device[DeviceFamily::kXpu];
    case StackMetric::kSelfPrivateuse1TimeTotal:
      return device[DeviceFamily::kCustom];
  }
  return 0;
}

// Without the characters that the format gives a meaning.
std::string frame_text(std::string_view frame) {
  std::string text(frame);
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return c == ' ' || c == ';' || c == '\t' || c == '\n'; },
      '_');
  return text;
}

std::string folded(const FunctionEvent& event, bool with_leaf) {
  std::string line;
  for (auto frame = event.stack.rbegin(); frame != event.stack.rend();
       ++frame) {
    if (!line.empty()) line += ';';
    line += frame_text(*frame);
  }
  if (with_leaf) line += ';' + frame_text(event.name);
  return line;
}

}  // namespace

Result<StackMetric> parse_stack_metric(std::string_view name) {
  constexpr std::pair<std::string_view, StackMetric> kNames[] = {
      {"self_cpu_time_total", StackMetric::kSelfCpuTimeTotal},
      {"self_device_time_total", StackMetric::kSelfDeviceTimeTotal},
      {"self_cuda_time_total", StackMetric::kSelfCudaTimeTotal},
      {"self_xpu_time_total", StackMetric::kSelfXpuTimeTotal},
      {"self_privateuse1_time_total", StackMetric::kSelfPrivateuse1TimeTotal},
  };
  for (const auto& [known, metric] : kNames) {
    if (known == name) return metric;
  }
  return Error{ErrorCode::kInvalidArgument, "no stack metric is called \"" +
                                                std::string(name) +
                                                "\"; try self_cpu_time_total"};
}

void EventList::write_stacks(std::ostream& out,
                             const StackOptions& options) const {
  std::map<std::string, std::int64_t> sums_ns;
  for (const FunctionEvent& event : events_) {
    if (event.stack.empty()) continue;
    const std::int64_t ns = metric_ns(event, options.metric);
    if (options.aggregate) {
      add_wrapping(sums_ns[folded(event, options.with_leaf)], ns);
    } else if (ns >= kNsPerUs) {
      out << folded(event, options.with_leaf) << ' ' << ns / kNsPerUs << '\n';
    }
  }
  for (const auto& [line, ns] : sums_ns) {
    if (ns >= kNsPerUs) out << line << ' ' << ns / kNsPerUs << '\n';
  }
}

Result<void> EventList::export_stacks(const std::string& path,
                                      const StackOptions& options) const {
  return profile::write_file(
      path, [&](std::ostream& out) { write_stacks(out, options); });
}

}  // namespace weft
