// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_PROFILE_EVENT_BUILDER_H_
#define WEFT_TESTS_PROFILE_EVENT_BUILDER_H_

// Rows and records in few words. Times are whole microseconds.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weft/profile/event_list.h"
#include "weft/profile/raw_event.h"

namespace weft::testing_support {

constexpr std::int64_t us(std::int64_t n) { return n * 1000; }

inline FunctionEvent range(std::string name, std::int64_t start_us,
                           std::int64_t end_us, std::int64_t thread = 1) {
  FunctionEvent event;
  event.name = std::move(name);
  event.trace_name = event.name;
  event.thread = thread;
  event.start_ns = us(start_us);
  event.end_ns = us(end_us);
  return event;
}

inline FunctionEvent device_row(std::string name, std::int64_t start_us,
                                std::int64_t end_us,
                                DeviceType device = DeviceType::kCuda) {
  FunctionEvent event = range(std::move(name), start_us, end_us);
  event.device = device;
  return event;
}

inline FunctionEvent with_kernel(FunctionEvent event, std::string name,
                                 std::int64_t duration_us) {
  event.kernels.push_back({std::move(name), DeviceType::kCuda, 0, 0,
                           us(duration_us), std::nullopt});
  return event;
}

inline FunctionEvent async(FunctionEvent event) {
  event.is_async = true;
  return event;
}

inline RawEvent raw(std::string name, std::int64_t start_us,
                    std::int64_t end_us, std::int64_t id,
                    std::int64_t thread = 1) {
  RawEvent event;
  event.name = std::move(name);
  event.start_ns = us(start_us);
  event.end_ns = us(end_us);
  event.id = id;
  event.thread = thread;
  return event;
}

inline RawEvent memory(std::int64_t bytes, std::int64_t at_us,
                       std::int64_t thread = 1) {
  RawEvent event = raw(kMemoryRecord, at_us, at_us, 0, thread);
  event.bytes = bytes;
  return event;
}

// The names of each row's parent, "-" for none.
inline std::vector<std::string> parents(const EventList& list) {
  std::vector<std::string> names;
  for (const FunctionEvent& event : list) {
    names.push_back(event.parent == kNoEvent ? "-" : list[event.parent].name);
  }
  return names;
}

inline std::vector<std::int64_t> self_cpu_us(const EventList& list) {
  std::vector<std::int64_t> times;
  for (const FunctionEvent& event : list) {
    times.push_back(event.self_cpu_time_total_ns / 1000);
  }
  return times;
}

inline std::vector<std::string> names(const EventList& list) {
  std::vector<std::string> result;
  for (const FunctionEvent& event : list) result.push_back(event.name);
  return result;
}

// The first row of this name.
inline const FunctionEvent& row(const EventList& list,
                                const std::string& name) {
  return *std::find_if(
      list.begin(), list.end(),
      [&](const FunctionEvent& event) { return event.name == name; });
}

inline EventListOptions reference_rules() {
  EventListOptions options;
  options.rules = Rules::kReference;
  return options;
}

}  // namespace weft::testing_support

#endif  // WEFT_TESTS_PROFILE_EVENT_BUILDER_H_
