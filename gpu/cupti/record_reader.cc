// SPDX-License-Identifier: Apache-2.0
#include "cupti/record_reader.h"

#include <array>
#include <string_view>

#include "cupti/abi.h"

namespace weft::cupti {
namespace {

// Contexts are few; a library that says otherwise is not believed.
constexpr std::size_t kMostContexts = 4096;

std::string_view copy_name(std::uint8_t kind) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
      "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
      "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};
  return kNames[kind < kNames.size() ? kind : 0];
}

std::string_view sync_name(std::uint32_t type) {
  static constexpr std::array<std::string_view, 5> kNames = {
      "Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
  return kNames[type < kNames.size() ? type : 0];
}

std::string_view text_of(const char* name) {
  return name == nullptr ? std::string_view() : std::string_view(name);
}

DeviceActivity kernel_of(const std::uint8_t* record, std::size_t bytes) {
  using namespace kernel;
  DeviceActivity activity;
  activity.kind = ActivityKind::kKernel;
  activity.device = kDevice.of(record);
  activity.context = kContext.of(record);
  activity.stream = kStream.of(record);
  activity.start = kStart.of(record);
  activity.end = kEnd.of(record);
  activity.correlation = kCorrelation.of(record);
  activity.graph = kGraph.of(record, bytes);
  activity.graph_node = kGraphNode.of(record, bytes);
  activity.text = text_of(kName.of(record));
  return activity;
}

DeviceActivity transfer_of(const std::uint8_t* record, std::size_t bytes) {
  using namespace transfer;
  DeviceActivity activity;
  activity.device = kDevice.of(record);
  activity.context = kContext.of(record);
  activity.stream = kStream.of(record);
  activity.start = kStart.of(record);
  activity.end = kEnd.of(record);
  activity.bytes = kBytes.of(record);
  activity.correlation = kCorrelation.of(record);
  activity.graph = kGraph.of(record, bytes);
  activity.graph_node = kGraphNode.of(record, bytes);
  return activity;
}

DeviceActivity copy_of(const std::uint8_t* record, std::size_t bytes) {
  DeviceActivity activity = transfer_of(record, bytes);
  activity.kind = ActivityKind::kCopy;
  activity.text = copy_name(transfer::kCopyKind.of(record));
  return activity;
}

DeviceActivity peer_copy_of(const std::uint8_t* record, std::size_t bytes) {
  DeviceActivity activity = copy_of(record, bytes);
  activity.correlation = peer::kCorrelation.of(record);
  activity.graph = peer::kGraph.of(record, bytes);
  activity.graph_node = peer::kGraphNode.of(record, bytes);
  return activity;
}

DeviceActivity fill_of(const std::uint8_t* record, std::size_t bytes) {
  DeviceActivity activity = transfer_of(record, bytes);
  activity.kind = ActivityKind::kFill;
  activity.text = "Memset";
  return activity;
}

DeviceActivity sync_of(const std::uint8_t* record) {
  using namespace sync;
  DeviceActivity activity;
  activity.kind = ActivityKind::kSync;
  activity.context = kContext.of(record);
  activity.stream = kStream.of(record);
  activity.start = kStart.of(record);
  activity.end = kEnd.of(record);
  activity.correlation = kCorrelation.of(record);
  activity.text = sync_name(kType.of(record));
  return activity;
}

DeviceActivity overhead_of(const std::uint8_t* record) {
  DeviceActivity activity;
  activity.kind = ActivityKind::kOverhead;
  activity.start = overhead::kStart.of(record);
  activity.end = overhead::kEnd.of(record);
  return activity;
}

DeviceActivity graph_of(const std::uint8_t* record) {
  using namespace graph;
  DeviceActivity activity;
  activity.kind = ActivityKind::kKernel;
  activity.device = kDevice.of(record);
  activity.context = kContext.of(record);
  activity.stream = kStream.of(record);
  activity.start = kStart.of(record);
  activity.end = kEnd.of(record);
  activity.correlation = kCorrelation.of(record);
  activity.graph = kGraph.of(record);
  activity.text = "CUDA graph";
  return activity;
}

}  // namespace

template <class Take>
void RecordReader::walk(std::uint8_t* buffer, std::size_t valid_bytes,
                        const Take& take) {
  std::uint8_t* const end = buffer + valid_bytes;
  void* next = nullptr;
  int code = calls_.next_record(buffer, valid_bytes, &next);
  std::uint8_t* record = nullptr;
  while (code == kSuccess) {
    auto* const at = static_cast<std::uint8_t*>(next);
    // A walk that leaves the buffer or stands still would not end.
    if (at < buffer || at >= end || (record != nullptr && at <= record)) break;
    if (record != nullptr) take(record, static_cast<std::size_t>(at - record));
    record = at;
    code = calls_.next_record(buffer, valid_bytes, &next);
  }
  if (record != nullptr) take(record, static_cast<std::size_t>(end - record));
  if (code != kMaxLimitReached && valid_bytes != 0) ++counts_.unreadable;
}

std::uint32_t RecordReader::device_of(std::uint32_t context) const {
  const auto found = device_of_context_.find(context);
  return found == device_of_context_.end() ? 0 : found->second;
}

bool RecordReader::read_record(const std::uint8_t* record, std::size_t bytes,
                               std::vector<DeviceActivity>& activities) {
  if (bytes < kRecordKind.end()) return false;
  const auto add = [&](std::size_t needed, auto make) {
    if (bytes < needed) return false;
    activities.push_back(make());
    return true;
  };
  switch (static_cast<Kind>(kRecordKind.of(record))) {
    case Kind::kConcurrentKernel:
      return add(kernel::kNeeded, [&] { return kernel_of(record, bytes); });
    case Kind::kMemcpy:
      return add(transfer::kNeeded, [&] { return copy_of(record, bytes); });
    case Kind::kMemcpyPeer:
      return add(peer::kNeeded, [&] { return peer_copy_of(record, bytes); });
    case Kind::kMemset:
      return add(transfer::kNeeded, [&] { return fill_of(record, bytes); });
    case Kind::kSynchronization:
      return add(sync::kNeeded, [&] {
        DeviceActivity activity = sync_of(record);
        activity.device = device_of(activity.context);
        return activity;
      });
    case Kind::kOverhead:
      return add(overhead::kNeeded, [&] { return overhead_of(record); });
    case Kind::kGraphTrace:
      return add(graph::kNeeded, [&] { return graph_of(record); });
    case Kind::kDriver:
    case Kind::kRuntime:
      return add(api::kNeeded, [&] {
        DeviceActivity activity;
        activity.kind = ActivityKind::kApi;
        activity.start = api::kStart.of(record);
        activity.end = api::kEnd.of(record);
        activity.correlation = api::kCorrelation.of(record);
        const bool driver =
            kRecordKind.of(record) == static_cast<std::uint32_t>(Kind::kDriver);
        const char* name = nullptr;
        if (calls_.callback_name(
                static_cast<std::uint32_t>(driver ? Domain::kDriver
                                                  : Domain::kRuntime),
                api::kCall.of(record), &name) == kSuccess)
          activity.text = text_of(name);
        return activity;
      });
    case Kind::kContext:
      if (bytes < context::kNeeded) return false;
      if (device_of_context_.size() < kMostContexts)
        device_of_context_[context::kContext.of(record)] =
            context::kDevice.of(record);
      return true;
    case Kind::kDevice:
    case Kind::kDeviceAttribute:
    case Kind::kStream:
      return true;  // labels, and no activities
  }
  activities.push_back({.kind = ActivityKind{}});
  return true;
}

void RecordReader::read(std::uint8_t* buffer, std::size_t valid_bytes,
                        std::vector<DeviceActivity>& activities) {
  walk(buffer, valid_bytes, [&](const std::uint8_t* record, std::size_t bytes) {
    ++counts_.records;
    if (!read_record(record, bytes, activities)) ++counts_.too_short;
  });
}

std::uint64_t RecordReader::count(std::uint8_t* buffer,
                                  std::size_t valid_bytes) {
  std::uint64_t records = 0;
  walk(buffer, valid_bytes,
       [&](const std::uint8_t*, std::size_t) { ++records; });
  return records;
}

}  // namespace weft::cupti
