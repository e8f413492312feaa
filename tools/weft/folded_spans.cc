// SPDX-License-Identifier: Apache-2.0
#include "folded_spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace weft::tools {
namespace {

// Whether the metric is the time of this kind of device.
bool is_measured(DeviceType device, StackMetric metric) {
  const std::optional<DeviceFamily> family = family_of(device);
  switch (metric) {
    case StackMetric::kSelfCpuTimeTotal: return false;
    case StackMetric::kSelfDeviceTimeTotal: return family.has_value();
    case StackMetric::kSelfCudaTimeTotal: return family == DeviceFamily::kCuda;
    case StackMetric::kSelfXpuTimeTotal: return family == DeviceFamily::kXpu;
    case StackMetric::kSelfPrivateuse1TimeTotal:
      return family == DeviceFamily::kCustom;
  }
  return false;
}

bool has_recorded(const EventList& events) {
  return std::any_of(events.begin(), events.end(), [](const FunctionEvent& e) {
    return !e.stack.empty();
  });
}

// Without the characters that the format gives a meaning.
std::string frame_text(std::string frame) {
  std::replace_if(
      frame.begin(), frame.end(),
      [](char c) { return c == ' ' || c == ';' || c == '\t' || c == '\n'; },
      '_');
  return frame;
}

void write_lines(const StackNode& node, const std::string& path,
                 std::int64_t unit_ns, std::string* out) {
  if (!path.empty() && node.self_ns / unit_ns > 0)
    *out += fmt::format("{} {}\n", path, node.self_ns / unit_ns);
  for (const auto& [name, child] : node.children) {
    std::string longer = path;
    if (!longer.empty()) longer += ';';
    longer += frame_text(name);
    write_lines(*child, longer, unit_ns, out);
  }
}

// Of one event, innermost first.
std::vector<const std::string*> frames_of(const EventList& events,
                                          const FunctionEvent& event,
                                          bool recorded) {
  // Deeper stacks are cut at their root: drawing recurses.
  constexpr std::size_t kDeepest = 500;
  std::vector<const std::string*> frames{&event.name};
  if (recorded) {
    for (const std::string& frame : event.stack) frames.push_back(&frame);
  } else {
    for (std::size_t at = event.parent; at != kNoEvent; at = events[at].parent)
      frames.push_back(&events[at].name);
  }
  if (frames.size() > kDeepest) frames.resize(kDeepest);
  return frames;
}

}  // namespace

StackNode& StackNode::child(const std::string& name) {
  std::unique_ptr<StackNode>& place = children[name];
  if (!place) place = std::make_unique<StackNode>();
  return *place;
}

std::unique_ptr<StackNode> stack_tree(const EventList& events,
                                      StackMetric metric, FrameSource source) {
  const bool recorded =
      source == FrameSource::kRecorded ||
      (source == FrameSource::kAuto && has_recorded(events));
  const bool host = metric == StackMetric::kSelfCpuTimeTotal;
  auto root = std::make_unique<StackNode>();
  std::int64_t not_launched_ns = 0;
  for (const FunctionEvent& event : events) {
    if (!event.is_host()) {
      if (is_measured(event.device, metric) && !event.is_user_annotation)
        add_wrapping(not_launched_ns, event.duration_ns());
      continue;
    }
    if (recorded && event.stack.empty()) continue;
    if (host ? event.self_cpu_time_total_ns <= 0 : event.kernels.empty())
      continue;
    StackNode* node = root.get();
    const auto frames = frames_of(events, event, recorded);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      node = &node->child(**frame);
    if (host) {
      add_wrapping(node->self_ns, event.self_cpu_time_total_ns);
      continue;
    }
    for (const Kernel& kernel : event.kernels) {
      if (!is_measured(kernel.device, metric)) continue;
      add_wrapping(node->child(kernel.name).self_ns, kernel.duration_ns);
      subtract_wrapping(not_launched_ns, kernel.duration_ns);
    }
  }
  if (not_launched_ns > 0)
    root->child("(launched by none of these)").self_ns = not_launched_ns;
  return root;
}

std::string folded_text(const StackNode& root, std::int64_t unit_ns) {
  std::string out;
  write_lines(root, "", unit_ns, &out);
  return out;
}

}  // namespace weft::tools
