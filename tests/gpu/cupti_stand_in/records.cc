// SPDX-License-Identifier: Apache-2.0
#include "gpu/cupti_stand_in/records.h"

#include <cupti.h>

#include <algorithm>
#include <cstring>

namespace weft::test {
namespace {

// The first version that writes a struct of that length.
struct Length {
  std::uint32_t since;
  std::size_t bytes;
};

template <std::size_t N>
std::size_t length_at(const Length (&lengths)[N], std::uint32_t version) {
  std::size_t bytes = lengths[0].bytes;
  for (const Length& length : lengths)
    if (version >= length.since) bytes = length.bytes;
  return bytes;
}

// The last one is a CUDA that is not out yet.
constexpr Length kKernels[] = {{13, sizeof(CUpti_ActivityKernel5)},
                               {15, sizeof(CUpti_ActivityKernel6)},
                               {17, sizeof(CUpti_ActivityKernel7)},
                               {18, sizeof(CUpti_ActivityKernel8)},
                               {19, sizeof(CUpti_ActivityKernel9)},
                               {130000, sizeof(CUpti_ActivityKernel10)},
                               {140000, sizeof(CUpti_ActivityKernel10) + 24}};
constexpr Length kCopies[] = {{13, sizeof(CUpti_ActivityMemcpy3)},
                              {14, sizeof(CUpti_ActivityMemcpy4)},
                              {17, sizeof(CUpti_ActivityMemcpy5)},
                              {26, sizeof(CUpti_ActivityMemcpy6)}};
constexpr Length kPeerCopies[] = {{13, sizeof(CUpti_ActivityMemcpyPtoP2)},
                                  {14, sizeof(CUpti_ActivityMemcpyPtoP3)},
                                  {17, sizeof(CUpti_ActivityMemcpyPtoP4)}};
constexpr Length kFills[] = {{13, sizeof(CUpti_ActivityMemset2)},
                             {14, sizeof(CUpti_ActivityMemset3)},
                             {17, sizeof(CUpti_ActivityMemset4)}};
constexpr Length kSyncs[] = {{13, sizeof(CUpti_ActivitySynchronization)},
                             {26, sizeof(CUpti_ActivitySynchronization2)}};
constexpr Length kOverheads[] = {{13, sizeof(CUpti_ActivityOverhead)},
                                 {20, sizeof(CUpti_ActivityOverhead2)},
                                 {22, sizeof(CUpti_ActivityOverhead3)}};
constexpr Length kContexts[] = {{13, sizeof(CUpti_ActivityContext)},
                                {22, sizeof(CUpti_ActivityContext2)},
                                {23, sizeof(CUpti_ActivityContext3)}};

template <class Record>
std::vector<std::uint8_t> bytes_of(const Record& record, std::size_t bytes) {
  std::vector<std::uint8_t> copied(bytes, 0xa5);
  std::memcpy(copied.data(), &record, std::min(bytes, sizeof(record)));
  return copied;
}

// What kernels, copies and fills have alike. Fields of packed structs are
// assigned and never bound.
template <class Record>
void fill_work(Record& record, const CudaWork& work, std::uint32_t correlation,
               std::uint32_t node, std::uint64_t start, std::uint64_t end) {
  record.start = start;
  record.end = end;
  record.deviceId = work.device;
  record.contextId = work.context;
  record.streamId = work.stream;
  record.correlationId = correlation;
  record.graphId = work.graph;
  record.graphNodeId = work.graph == 0 ? 0 : node + 1;
}

}  // namespace

std::size_t record_bytes(std::uint32_t kind, std::uint32_t version) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return length_at(kKernels, version);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return length_at(kCopies, version);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return length_at(kPeerCopies, version);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return length_at(kFills, version);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return length_at(kSyncs, version);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return length_at(kOverheads, version);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return length_at(kContexts, version);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(CUpti_ActivityMemory4);
    default:
      return 0;
  }
}

std::vector<std::uint8_t> make_record(const CudaWork& work,
                                      std::uint32_t correlation,
                                      std::uint32_t node, std::uint64_t start,
                                      std::uint64_t end,
                                      std::uint32_t version) {
  const std::size_t bytes = record_bytes(work.kind, version);
  const auto kind = static_cast<CUpti_ActivityKind>(work.kind);
  switch (work.kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      CUpti_ActivityMemcpy6 record{};
      record.kind = kind;
      record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
      record.bytes = work.bytes;
      fill_work(record, work, correlation, node, start, end);
      return bytes_of(record, bytes);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      CUpti_ActivityMemcpyPtoP4 record{};
      record.kind = kind;
      record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
      record.bytes = work.bytes;
      record.dstDeviceId = 1;
      fill_work(record, work, correlation, node, start, end);
      return bytes_of(record, bytes);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      CUpti_ActivityMemset4 record{};
      record.kind = kind;
      record.bytes = work.bytes;
      fill_work(record, work, correlation, node, start, end);
      return bytes_of(record, bytes);
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
      CUpti_ActivitySynchronization2 record{};
      record.kind = kind;
      record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
      record.start = start;
      record.end = end;
      record.correlationId = correlation;
      record.contextId = work.context;
      record.streamId = work.stream;
      return bytes_of(record, bytes);
    }
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
      CUpti_ActivityOverhead3 record{};
      record.kind = kind;
      record.start = start;
      record.end = end;
      return bytes_of(record, bytes);
    }
    case CUPTI_ACTIVITY_KIND_CONTEXT: {
      CUpti_ActivityContext3 record{};
      record.kind = kind;
      record.contextId = work.context;
      record.deviceId = work.device;
      return bytes_of(record, bytes);
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      CUpti_ActivityAPI record{};
      record.kind = kind;
      record.cbid = work.call;
      record.start = start;
      record.end = end;
      record.correlationId = correlation;
      return bytes_of(record, bytes);
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
      CUpti_ActivityGraphTrace2 record{};
      record.kind = kind;
      record.correlationId = correlation;
      record.start = start;
      record.end = end;
      record.deviceId = work.device;
      record.graphId = work.graph;
      record.contextId = work.context;
      record.streamId = work.stream;
      return bytes_of(record, bytes);
    }
    case CUPTI_ACTIVITY_KIND_MEMORY2: {
      CUpti_ActivityMemory4 record{};
      record.kind = kind;
      return bytes_of(record, bytes);
    }
    default: {
      CUpti_ActivityKernel10 record{};
      record.kind = kind;
      record.name = work.name;
      fill_work(record, work, correlation, node, start, end);
      return bytes_of(record, bytes);
    }
  }
}

}  // namespace weft::test
