// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "foreign_facts.h"

namespace weft::tools {
namespace {

void write_device_work(JsonWriter& json, const PytorchFacts& facts) {
  json.member("kernels", facts.kernels.count);
  json.member("kernel_time_us", microseconds_text(facts.kernels.total_ns));
  json.member("gpu_memcpy", facts.copies.count);
  json.member("gpu_memcpy_time_us", microseconds_text(facts.copies.total_ns));
  json.member("gpu_memcpy_bytes", facts.copies.bytes);
  json.member("gpu_memset", facts.sets.count);
  json.member("gpu_memset_time_us", microseconds_text(facts.sets.total_ns));
  json.member("runtime_and_driver_calls", facts.calls.count);
  json.member("runtime_and_driver_time_us",
              microseconds_text(facts.calls.total_ns));
  json.member("kernels_with_launch", facts.kernels_with_launch);
  json.member("gpu_ops_with_launch", facts.work_with_launch);
  json.member("calls_that_started_gpu_work", facts.calls_that_started_work);
  json.member("kernels_whose_external_id_names_a_cpu_op",
              facts.kernels_of_known_operators);
  json.open_array("streams");
  for (const auto& [device, stream] : facts.streams) {
    json.open_array();
    json.element(device);
    json.element(stream);
    json.close();
  }
  json.close();
  json.open_object("gpu_busy_union_us_by_device");
  for (const auto& [device, ns] : facts.busy_ns) {
    json.member(device, microseconds_text(ns));
  }
  json.close();
}

void write_operators(JsonWriter& json, const PytorchFacts& facts) {
  json.member("cpu_ops", facts.operators);
  write_counts(json, "top3_ops_by_count", facts.top_operators);
  json.open_array("top3_kernels_by_time_us");
  for (const auto& [name, ns] : facts.top_kernels_ns) {
    json.open_array();
    json.element(name);
    json.element(microseconds_text(ns));
    json.close();
  }
  json.close();
  if (facts.main_thread) {
    json.open_object("main_thread");
    json.member("pid", facts.main_thread->pid);
    json.member("tid", facts.main_thread->tid);
    json.member("cpu_events", facts.main_thread->events);
    json.member("max_depth", facts.main_thread->max_depth);
    json.member("partial_overlaps", facts.main_thread->partial_overlaps);
    json.member("max_depth_cpu_ops", facts.main_operator_depth);
    json.close();
  }
  if (facts.python_functions > 0) {
    json.member("python_functions", facts.python_functions);
  }
  if (facts.user_annotations + facts.device_annotations > 0) {
    json.open_object("annotations");
    json.member("user", facts.user_annotations);
    json.member("gpu", facts.device_annotations);
    json.close();
  }
}

void write_steps(JsonWriter& json, const PytorchFacts& facts) {
  if (facts.step_events == 0) return;
  json.open_array("profiler_steps");
  for (const PytorchFacts::Step& step : facts.first_steps) {
    json.open_array();
    json.element(step.category);
    json.element(step.name);
    json.element(microseconds_text(step.duration_ns));
    json.close();
  }
  json.close();
  json.member("profiler_step_events", facts.step_events);
}

void write_memory(JsonWriter& json, const PytorchFacts& facts) {
  if (facts.memory_events == 0) return;
  json.member("memory_events", facts.memory_events);
  json.member("memory_allocations", facts.allocations);
  json.member("memory_frees", facts.releases);
  write_map(json, "memory_net_bytes_by_device", facts.net_bytes);
}

void write_distributed(JsonWriter& json,
                       const PytorchFacts::Distributed& distributed) {
  json.open_object("distributed");
  if (!distributed.backend.empty()) json.member("backend", distributed.backend);
  if (distributed.rank) json.member("rank", *distributed.rank);
  if (distributed.world_size) {
    json.member("world_size", *distributed.world_size);
  }
  json.close();
}

}  // namespace

void write_pytorch(JsonWriter& json, const PytorchFacts& facts) {
  json.open_object("pytorch");
  write_device_work(json, facts);
  write_operators(json, facts);
  write_steps(json, facts);
  write_memory(json, facts);
  if (facts.distributed) write_distributed(json, *facts.distributed);
  if (facts.base_time_ns) json.member("baseTimeNanoseconds", *facts.base_time_ns);
  if (facts.devices) {
    json.member("devices", *facts.devices);
    if (*facts.devices > 0) {
      json.member("device_name", facts.device_name);
    } else {
      json.null("device_name");
    }
  }
  json.close();
}

}  // namespace weft::tools
