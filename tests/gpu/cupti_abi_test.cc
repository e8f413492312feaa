// SPDX-License-Identifier: Apache-2.0

// weft's own description of CUPTI's interface against the vendor's headers.

#include "cupti/abi.h"

#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace weft::cupti {
namespace {

#define WEFT_SAME(ours, Record, field)                      \
  static_assert((ours).offset == offsetof(Record, field) && \
                sizeof((ours).of(nullptr)) == sizeof(Record::field))

#define WEFT_SAME_KERNEL(Record)                          \
  WEFT_SAME(kernel::kStart, Record, start);               \
  WEFT_SAME(kernel::kEnd, Record, end);                   \
  WEFT_SAME(kernel::kDevice, Record, deviceId);           \
  WEFT_SAME(kernel::kContext, Record, contextId);         \
  WEFT_SAME(kernel::kStream, Record, streamId);           \
  WEFT_SAME(kernel::kCorrelation, Record, correlationId); \
  WEFT_SAME(kernel::kName, Record, name);                 \
  static_assert(kernel::kNeeded <= sizeof(Record))

WEFT_SAME_KERNEL(CUpti_ActivityKernel4);
WEFT_SAME_KERNEL(CUpti_ActivityKernel5);
WEFT_SAME_KERNEL(CUpti_ActivityKernel6);
WEFT_SAME_KERNEL(CUpti_ActivityKernel7);
WEFT_SAME_KERNEL(CUpti_ActivityKernel8);
WEFT_SAME_KERNEL(CUpti_ActivityKernel9);
WEFT_SAME_KERNEL(CUpti_ActivityKernel10);
WEFT_SAME(kernel::kGraph, CUpti_ActivityKernel5, graphId);
WEFT_SAME(kernel::kGraphNode, CUpti_ActivityKernel5, graphNodeId);
WEFT_SAME(kernel::kGraph, CUpti_ActivityKernel10, graphId);
WEFT_SAME(kernel::kGraphNode, CUpti_ActivityKernel10, graphNodeId);

#define WEFT_SAME_TRANSFER(Record)                          \
  WEFT_SAME(transfer::kBytes, Record, bytes);               \
  WEFT_SAME(transfer::kStart, Record, start);               \
  WEFT_SAME(transfer::kEnd, Record, end);                   \
  WEFT_SAME(transfer::kDevice, Record, deviceId);           \
  WEFT_SAME(transfer::kContext, Record, contextId);         \
  WEFT_SAME(transfer::kStream, Record, streamId);           \
  WEFT_SAME(transfer::kCorrelation, Record, correlationId); \
  WEFT_SAME(transfer::kGraphNode, Record, graphNodeId);     \
  static_assert(transfer::kNeeded <= sizeof(Record))

WEFT_SAME_TRANSFER(CUpti_ActivityMemcpy3);
WEFT_SAME_TRANSFER(CUpti_ActivityMemcpy4);
WEFT_SAME_TRANSFER(CUpti_ActivityMemcpy5);
WEFT_SAME_TRANSFER(CUpti_ActivityMemcpy6);
WEFT_SAME_TRANSFER(CUpti_ActivityMemset2);
WEFT_SAME_TRANSFER(CUpti_ActivityMemset3);
WEFT_SAME_TRANSFER(CUpti_ActivityMemset4);
WEFT_SAME(transfer::kCopyKind, CUpti_ActivityMemcpy6, copyKind);
WEFT_SAME(transfer::kGraph, CUpti_ActivityMemcpy6, graphId);
WEFT_SAME(transfer::kGraph, CUpti_ActivityMemset4, graphId);
WEFT_SAME(peer::kCorrelation, CUpti_ActivityMemcpyPtoP4, correlationId);
WEFT_SAME(peer::kGraphNode, CUpti_ActivityMemcpyPtoP4, graphNodeId);
WEFT_SAME(peer::kGraph, CUpti_ActivityMemcpyPtoP4, graphId);
WEFT_SAME(transfer::kBytes, CUpti_ActivityMemcpyPtoP4, bytes);
WEFT_SAME(transfer::kStart, CUpti_ActivityMemcpyPtoP4, start);

WEFT_SAME(sync::kType, CUpti_ActivitySynchronization2, type);
WEFT_SAME(sync::kStart, CUpti_ActivitySynchronization2, start);
WEFT_SAME(sync::kEnd, CUpti_ActivitySynchronization2, end);
WEFT_SAME(sync::kCorrelation, CUpti_ActivitySynchronization2, correlationId);
WEFT_SAME(sync::kContext, CUpti_ActivitySynchronization2, contextId);
WEFT_SAME(sync::kStream, CUpti_ActivitySynchronization2, streamId);
WEFT_SAME(sync::kStart, CUpti_ActivitySynchronization, start);

WEFT_SAME(overhead::kStart, CUpti_ActivityOverhead3, start);
WEFT_SAME(overhead::kEnd, CUpti_ActivityOverhead3, end);
WEFT_SAME(overhead::kStart, CUpti_ActivityOverhead, start);

WEFT_SAME(api::kCall, CUpti_ActivityAPI, cbid);
WEFT_SAME(api::kStart, CUpti_ActivityAPI, start);
WEFT_SAME(api::kEnd, CUpti_ActivityAPI, end);
WEFT_SAME(api::kCorrelation, CUpti_ActivityAPI, correlationId);

WEFT_SAME(graph::kCorrelation, CUpti_ActivityGraphTrace2, correlationId);
WEFT_SAME(graph::kStart, CUpti_ActivityGraphTrace2, start);
WEFT_SAME(graph::kEnd, CUpti_ActivityGraphTrace2, end);
WEFT_SAME(graph::kDevice, CUpti_ActivityGraphTrace2, deviceId);
WEFT_SAME(graph::kGraph, CUpti_ActivityGraphTrace2, graphId);
WEFT_SAME(graph::kContext, CUpti_ActivityGraphTrace2, contextId);
WEFT_SAME(graph::kStream, CUpti_ActivityGraphTrace2, streamId);

WEFT_SAME(context::kContext, CUpti_ActivityContext3, contextId);
WEFT_SAME(context::kDevice, CUpti_ActivityContext3, deviceId);

WEFT_SAME(callback_data::kSite, CUpti_CallbackData, callbackSite);
WEFT_SAME(callback_data::kCorrelation, CUpti_CallbackData, correlationId);

template <class Ours, class Theirs>
constexpr bool is(Ours ours, Theirs theirs) {
  return static_cast<std::uint32_t>(ours) == static_cast<std::uint32_t>(theirs);
}
static_assert(is(Kind::kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY));
static_assert(is(Kind::kMemset, CUPTI_ACTIVITY_KIND_MEMSET));
static_assert(is(Kind::kDriver, CUPTI_ACTIVITY_KIND_DRIVER));
static_assert(is(Kind::kRuntime, CUPTI_ACTIVITY_KIND_RUNTIME));
static_assert(is(Kind::kDevice, CUPTI_ACTIVITY_KIND_DEVICE));
static_assert(is(Kind::kContext, CUPTI_ACTIVITY_KIND_CONTEXT));
static_assert(is(Kind::kConcurrentKernel,
                 CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
static_assert(is(Kind::kOverhead, CUPTI_ACTIVITY_KIND_OVERHEAD));
static_assert(is(Kind::kMemcpyPeer, CUPTI_ACTIVITY_KIND_MEMCPY2));
static_assert(is(Kind::kDeviceAttribute, CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE));
static_assert(is(Kind::kStream, CUPTI_ACTIVITY_KIND_STREAM));
static_assert(is(Kind::kSynchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
static_assert(is(Kind::kGraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
static_assert(is(Domain::kDriver, CUPTI_CB_DOMAIN_DRIVER_API));
static_assert(is(Domain::kRuntime, CUPTI_CB_DOMAIN_RUNTIME_API));
static_assert(is(Domain::kState, CUPTI_CB_DOMAIN_STATE));
static_assert(is(kStateFatalError, CUPTI_CBID_STATE_FATAL_ERROR));
static_assert(is(kSiteEnter, CUPTI_API_ENTER));
static_assert(is(kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
static_assert(is(kThreadIdSystem, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
static_assert(is(kAttributeZeroedBuffer,
                 CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER));
static_assert(is(kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED));

// The rest of this file is compiled, which is the test.
TEST(CuptiAbi, FieldsBeyondARecordsEndAreAbsent) {
  const std::uint8_t record[160] = {};
  EXPECT_EQ(kernel::kGraph.of(record, kernel::kGraph.end() - 1), 0u);
}

}  // namespace
}  // namespace weft::cupti
