// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_PROFILE_PLUGIN_PROFILE_H_
#define WEFT_TESTS_PROFILE_PLUGIN_PROFILE_H_

// What Kineto's TensorBoard plug-in makes of a trace, made of weft's rows.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/profile/chrome_import.h"

namespace weft::testing_support {

// What a moment of a step is spent on: the first of these that goes on then.
enum Role { kKernel, kMemcpy, kMemset, kRuntime, kDataLoader, kCpuOp, kOther };
inline constexpr std::array<const char*, 7> kRoleNames = {
    "Kernel", "Memcpy", "Memset", "Runtime", "DataLoader", "CpuOp", "Other"};

inline bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Of the name, since a row does not keep the category it had in the file.
inline Role role_of(const FunctionEvent& row) {
  if (!row.is_host()) {
    if (starts_with(row.name, "Memcpy")) return kMemcpy;
    return starts_with(row.name, "Memset") ? kMemset : kKernel;
  }
  if (starts_with(row.name, "cuda")) return kRuntime;
  if (starts_with(row.name, "enumerate(Data")) return kDataLoader;
  return row.name == "ProfilerStep*" ? kOther : kCpuOp;
}

inline double us(std::int64_t ns) {
  return static_cast<double>(ns) / 1000;
}

using Span = std::pair<std::int64_t, std::int64_t>;
using Costs = std::map<std::string, double>;

struct KernelGroup {
  std::string name;
  std::string operation;
  std::vector<double> us;
};

inline double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// The plug-in's view of a trace, made of weft's rows.
class PluginProfile {
 public:
  explicit PluginProfile(const ChromeImport& import) : events_(import.events) {
    for (const FunctionEvent& row : events_) {
      for (const Kernel& kernel : row.kernels) {
        work_.push_back({row.start_ns, *kernel.start_ns + kernel.duration_ns});
        if (starts_with(kernel.name, "Mem")) continue;
        group_of(kernel.name, row.name).us.push_back(us(kernel.duration_ns));
      }
      if (!row.is_host() && role_of(row) == kKernel) {
        kernels_[row.name].push_back(us(row.duration_ns()));
      }
    }
    find_steps();
  }

  bool has(Role role) const {
    return std::any_of(events_.begin(), events_.end(),
                       [&](const auto& row) { return role_of(row) == role; });
  }
  bool has_named(std::string_view start) const {
    return std::any_of(events_.begin(), events_.end(), [&](const auto& row) {
      return starts_with(row.name, start);
    });
  }
  std::vector<FunctionEventAvg> operations(bool by_shape = false) const {
    std::vector<FunctionEventAvg> rows;
    for (const FunctionEventAvg& row :
         events_.key_averages({.group_by_input_shape = by_shape})) {
      FunctionEvent named;
      named.name = row.key;
      if (row.device == DeviceType::kCpu && role_of(named) == kCpuOp) {
        rows.push_back(row);
      }
    }
    return rows;
  }
  const std::vector<Costs>& steps() const { return steps_; }
  const std::vector<KernelGroup>& kernel_groups() const { return groups_; }
  const std::map<std::string, std::vector<double>>& kernels() const {
    return kernels_;
  }

  std::set<int> devices() const {
    std::set<int> devices;
    for (const FunctionEvent& row : events_) {
      if (!row.is_host()) devices.insert(row.device_index);
    }
    return devices;
  }
  // The part of the trace's time in which a kernel runs.
  double utilization() const {
    const Costs costs = costs_of(whole());
    return costs.at("Kernel") / costs.at("Total");
  }

 private:
  KernelGroup& group_of(const std::string& name, const std::string& operation) {
    for (KernelGroup& group : groups_) {
      if (group.name == name && group.operation == operation) return group;
    }
    return groups_.emplace_back(KernelGroup{name, operation, {}});
  }

  Span whole() const {
    Span span{0, 0};
    for (const FunctionEvent& row : events_) {
      span.second = std::max(span.second, row.end_ns);
    }
    return span;
  }

  // A step lasts until the end of the device work it started, and begins after
  // that of the steps before. Where any step has such work, those without any
  // are no steps.
  void find_steps() {
    std::vector<Costs> idle;
    for (const FunctionEvent& row : events_) {
      if (row.name != "ProfilerStep*") continue;
      Span step{row.start_ns, row.end_ns};
      bool works = false;
      for (const auto& [launch_ns, end_ns] : all_work()) {
        if (launch_ns < row.start_ns) {
          step.first = std::max(step.first, end_ns);
        } else if (launch_ns <= row.end_ns) {
          step.second = std::max(step.second, end_ns);
          works = true;
        }
      }
      (works ? steps_ : idle).push_back(costs_of(step));
    }
    if (steps_.empty()) steps_ = idle;
    if (steps_.empty()) steps_.push_back(costs_of(whole()));
  }

  // Work that nobody is known to have launched counts from its own begin.
  std::vector<Span> all_work() const {
    std::vector<Span> work = work_;
    std::set<std::int64_t> owned;
    for (const FunctionEvent& row : events_) {
      for (const Kernel& kernel : row.kernels) owned.insert(*kernel.start_ns);
    }
    for (const FunctionEvent& row : events_) {
      if (row.is_host() || owned.count(row.start_ns) != 0) continue;
      work.push_back({row.start_ns, row.end_ns});
    }
    return work;
  }

  Costs costs_of(Span step) const {
    std::set<std::int64_t> edges{step.first, step.second};
    for (const FunctionEvent& row : events_) {
      edges.insert(std::clamp(row.start_ns, step.first, step.second));
      edges.insert(std::clamp(row.end_ns, step.first, step.second));
    }
    Costs costs;
    for (const char* name : kRoleNames) costs[name] = 0;
    for (auto edge = edges.begin(); std::next(edge) != edges.end(); ++edge) {
      int role = kOther;
      for (const FunctionEvent& row : events_) {
        if (row.start_ns <= *edge && *std::next(edge) <= row.end_ns) {
          role = std::min(role, static_cast<int>(role_of(row)));
        }
      }
      costs[kRoleNames[static_cast<std::size_t>(role)]] +=
          us(*std::next(edge) - *edge);
    }
    costs["Total"] = us(step.second - step.first);
    return costs;
  }

  const EventList& events_;
  std::vector<Span> work_;  // launched at, ended at
  std::vector<KernelGroup> groups_;
  std::map<std::string, std::vector<double>> kernels_;  // us, by name
  std::vector<Costs> steps_;
};

}  // namespace weft::testing_support

#endif  // WEFT_TESTS_PROFILE_PLUGIN_PROFILE_H_
