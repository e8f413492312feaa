// SPDX-License-Identifier: Apache-2.0
#include "golden_expect.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::golden {
namespace {

DeviceFamily family(const EventListOptions& options) {
  return options.device_name.empty() ? DeviceFamily::kCuda
                                     : DeviceFamily::kCustom;
}

const char* device_text(DeviceType device) {
  switch (device) {
    case DeviceType::kCpu:
      return "cpu";
    case DeviceType::kCuda:
      return "cuda";
    case DeviceType::kCustom:
      return "privateuse1";
    default:
      return "other";
  }
}

void expect_time(Json recorded, const char* key, std::int64_t ns) {
  const auto us = member(recorded, key);
  ASSERT_TRUE(us) << key;
  EXPECT_EQ(to_ns(double(*us)), ns) << key;
}

void expect_optional(Json recorded, const char* key, std::int64_t value,
                     std::int64_t missing) {
  EXPECT_EQ(integer(recorded, key, missing), value) << key;
}

void expect_flag(Json recorded, const char* key, bool value) {
  const auto found = member(recorded, key);
  EXPECT_EQ(found && bool(*found), value) << key;
}

void expect_texts(Json recorded, const char* key,
                  const std::vector<std::string>& values) {
  std::vector<std::string> expected;
  if (const auto list = member(recorded, key)) {
    for (Json item : simdjson::dom::array(*list)) {
      expected.emplace_back(std::string_view(item));
    }
  }
  EXPECT_EQ(values, expected) << key;
}

// Shapes are recorded as a list; compare as text.
void expect_shapes(Json recorded, const std::vector<Shape>& shapes) {
  std::string expected = "[]";
  if (const auto list = member(recorded, "shapes")) {
    expected = simdjson::minify(*list);
  }
  std::string actual;
  for (const char c : to_string(shapes)) {
    if (c != ' ') actual += c;
  }
  EXPECT_EQ(actual, expected);
}

void expect_memory(Json recorded, const MemoryUsage& memory,
                   const MemoryUsage& self, const EventListOptions& options) {
  expect_optional(recorded, "cpu_memory_usage", memory.cpu_bytes, 0);
  expect_optional(recorded, "self_cpu_memory_usage", self.cpu_bytes, 0);
  expect_optional(recorded, "device_memory_usage",
                  memory.device_bytes[family(options)], 0);
  expect_optional(recorded, "self_device_memory_usage",
                  self.device_bytes[family(options)], 0);
}

void expect_event(Json recorded, const FunctionEvent& event,
                  const EventListOptions& options) {
  SCOPED_TRACE(event.name);
  EXPECT_EQ(text(recorded, "name"), event.name);
  expect_optional(recorded, "id", event.id, -1);
  expect_optional(recorded, "thread", event.thread, -1);
  expect_time(recorded, "start_us", event.start_ns);
  expect_time(recorded, "end_us", event.end_ns);
  EXPECT_EQ(text(recorded, "device"), device_text(event.device));
  const auto parent = member(recorded, "parent");
  EXPECT_EQ(parent ? std::size_t(std::uint64_t(*parent)) : kNoEvent,
            event.parent);
  std::vector<std::size_t> children;
  for (Json child : simdjson::dom::array(recorded["children"])) {
    children.push_back(std::size_t(std::uint64_t(child)));
  }
  EXPECT_EQ(event.children, children);
  const simdjson::dom::array kernels = recorded["kernels"];
  ASSERT_EQ(event.kernels.size(), kernels.size());
  std::size_t k = 0;
  for (Json kernel : kernels) {
    EXPECT_EQ(event.kernels[k].name, std::string_view(kernel.at(0)));
    EXPECT_EQ(event.kernels[k].device_index, std::int64_t(kernel.at(1)));
    EXPECT_EQ(event.kernels[k].duration_ns, to_ns(double(kernel.at(2))));
    ++k;
  }
  expect_time(recorded, "cpu_time_total", event.cpu_time_total_ns);
  expect_time(recorded, "self_cpu_time_total", event.self_cpu_time_total_ns);
  expect_time(recorded, "device_time_total",
              event.device_time_total_ns[family(options)]);
  expect_time(recorded, "self_device_time_total",
              event.self_device_time_total_ns[family(options)]);
  Json trace_name;
  if (recorded.at_key("trace_name").get(trace_name) != simdjson::SUCCESS) {
    EXPECT_EQ(event.trace_name, event.name);
  } else if (trace_name.is_null()) {
    EXPECT_FALSE(event.trace_name);
  } else {
    EXPECT_EQ(event.trace_name, std::string_view(trace_name));
  }
  expect_flag(recorded, "async", event.is_async);
  expect_flag(recorded, "legacy", event.is_legacy);
  expect_flag(recorded, "remote", event.is_remote);
  expect_optional(recorded, "node_id", event.node_id, -1);
  expect_memory(recorded, event.memory, event.self_memory, options);
  Json flops;
  if (recorded.at_key("flops").get(flops) == simdjson::SUCCESS &&
      flops.is_null()) {
    EXPECT_FALSE(event.flops);
  } else {
    EXPECT_EQ(event.flops,
              static_cast<std::uint64_t>(integer(recorded, "flops", 0)));
  }
  expect_texts(recorded, "stack", event.stack);
  expect_shapes(recorded, event.input_shapes);
}

}  // namespace

void expect_events(Json recorded, const EventList& list) {
  const simdjson::dom::array rows(recorded);
  ASSERT_EQ(list.size(), rows.size());
  std::size_t i = 0;
  for (Json row : rows) expect_event(row, list[i++], list.options());
}

void expect_average(Json recorded, const FunctionEventAvg& average,
                    const EventListOptions& options) {
  SCOPED_TRACE(average.key);
  EXPECT_EQ(text(recorded, "key"), average.key);
  expect_optional(recorded, "count", static_cast<std::int64_t>(average.count),
                  -1);
  EXPECT_EQ(text(recorded, "device"), device_text(average.device));
  expect_time(recorded, "cpu_time_total", average.cpu_time_total_ns);
  expect_time(recorded, "self_cpu_time_total", average.self_cpu_time_total_ns);
  EXPECT_NEAR(double(recorded["cpu_time"]), average.cpu_time_ns() / 1000, 1e-6);
  const DeviceFamily column = family(options);
  expect_time(recorded, "device_time_total",
              average.device_time_total_ns[column]);
  expect_time(recorded, "self_device_time_total",
              average.self_device_time_total_ns[column]);
  EXPECT_NEAR(double(recorded["device_time"]),
              average.device_time_ns(column) / 1000, 1e-6);
  expect_flag(recorded, "top_level", !average.first_has_parent);
  expect_flag(recorded, "async", average.is_async);
  expect_flag(recorded, "legacy", average.is_legacy);
  expect_optional(recorded, "node_id", average.node_id, -1);
  expect_memory(recorded, average.memory, average.self_memory, options);
  expect_optional(recorded, "flops", static_cast<std::int64_t>(average.flops),
                  0);
  expect_texts(recorded, "stack", average.stack);
  expect_shapes(recorded, average.input_shapes.value_or(std::vector<Shape>()));
}

void expect_averages(Json recorded, const KeyAverages& averages) {
  const simdjson::dom::array rows(recorded);
  ASSERT_EQ(averages.size(), rows.size());
  std::size_t i = 0;
  for (Json row : rows) expect_average(row, averages[i++], averages.options());
}

}  // namespace weft::golden
