// SPDX-License-Identifier: Apache-2.0

// libcupti, as far as weft calls it.

#include <cupti.h>

#include <cstring>

#include "gpu/cupti_stand_in/library.h"

namespace weft::test {

Library& library() {
  static Library& only = *new Library;
  return only;
}

namespace {

CUptiResult answer(int code) {
  return static_cast<CUptiResult>(code);
}

// What `name` answers if the test has it fail; else what `work` does.
template <class Work>
CUptiResult run(const char* name, const Work& work) {
  const int code = library().called(name);
  return answer(code != 0 ? code : work());
}

}  // namespace
}  // namespace weft::test

using weft::test::library;
using weft::test::run;

extern "C" {

#define WEFT_STAND_IN __attribute__((visibility("default")))

WEFT_STAND_IN weft::test::CuptiStandIn* weft_cupti_stand_in() {
  return &library();
}

WEFT_STAND_IN CUptiResult cuptiGetVersion(std::uint32_t* version) {
  return run("cuptiGetVersion", [&] {
    *version = library().version;
    return 0;
  });
}
WEFT_STAND_IN CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                                         CUpti_CallbackFunc callback,
                                         void* user) {
  return run("cuptiSubscribe",
             [&] { return library().subscribe(subscriber, callback, user); });
}
WEFT_STAND_IN CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  return run("cuptiUnsubscribe", [] { return library().unsubscribe(); });
}
WEFT_STAND_IN CUptiResult cuptiEnableCallback(std::uint32_t on,
                                              CUpti_SubscriberHandle,
                                              CUpti_CallbackDomain domain,
                                              CUpti_CallbackId call) {
  return run("cuptiEnableCallback",
             [&] { return library().enable_callback(on != 0, domain, call); });
}
WEFT_STAND_IN CUptiResult cuptiEnableDomain(std::uint32_t,
                                            CUpti_SubscriberHandle,
                                            CUpti_CallbackDomain) {
  return run("cuptiEnableDomain", [] { return 0; });
}
WEFT_STAND_IN CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain,
                                               std::uint32_t call,
                                               const char** name) {
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  switch (call) {
    case 31:
      *name = runtime ? "cudaMemcpy_v3020" : "cuMemFree";
      return CUPTI_SUCCESS;
    case 51:
      *name = runtime ? "cudaMemset_v3020" : "cuModuleLoad";
      return CUPTI_SUCCESS;
    case 211:
    case 430:
      if (!runtime) break;
      *name =
          call == 211 ? "cudaLaunchKernel_v7000" : "cudaLaunchKernelExC_v11060";
      return CUPTI_SUCCESS;
    case 311:
      *name = runtime ? "cudaGraphLaunch_v10000" : "cuStreamDestroy";
      return CUPTI_SUCCESS;
    case 307:
      if (runtime) break;
      *name = "cuLaunchKernel";
      return CUPTI_SUCCESS;
    case 514:
      if (runtime) break;
      *name = "cuGraphLaunch";
      return CUPTI_SUCCESS;
    default:
      break;
  }
  // Numbers have few gaps.
  if (call == 0 || call > 520) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = runtime ? "cudaGetLastError_v3020" : "cuCtxGetCurrent";
  return CUPTI_SUCCESS;
}
WEFT_STAND_IN CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                               CUpti_BuffersCallbackCompleteFunc complete) {
  return run("cuptiActivityRegisterCallbacks", [&] {
    library().set_buffers(request, complete);
    return 0;
  });
}
WEFT_STAND_IN CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return run("cuptiActivityEnable",
             [&] { return library().set_kind(true, kind); });
}
WEFT_STAND_IN CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return run("cuptiActivityDisable",
             [&] { return library().set_kind(false, kind); });
}
WEFT_STAND_IN CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  return run("cuptiActivityFlushAll", [] {
    library().flush();
    return 0;
  });
}
WEFT_STAND_IN CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer,
                                                     std::size_t valid,
                                                     CUpti_Activity** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, *record, sizeof(kind));
    next = reinterpret_cast<std::uint8_t*>(*record) +
           weft::test::record_bytes(kind, library().version);
  }
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  std::uint32_t kind = 0;
  if (buffer + valid - next < 4) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  std::memcpy(&kind, next, sizeof(kind));
  const std::size_t bytes = weft::test::record_bytes(kind, library().version);
  if (bytes == 0) return CUPTI_ERROR_INVALID_KIND;
  if (next + bytes > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
WEFT_STAND_IN CUptiResult cuptiActivityGetNumDroppedRecords(
    CUcontext, std::uint32_t, std::size_t* count) {
  return run("cuptiActivityGetNumDroppedRecords", [&] {
    *count = library().take_dropped();
    return 0;
  });
}
WEFT_STAND_IN CUptiResult cuptiGetTimestamp(std::uint64_t* ns) {
  return run("cuptiGetTimestamp", [&] {
    *ns = library().now();
    return 0;
  });
}
WEFT_STAND_IN CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) {
  return run("cuptiSetThreadIdType", [] { return 0; });
}
WEFT_STAND_IN CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute,
                                                    std::size_t*, void*) {
  return run("cuptiActivitySetAttribute", [] { return 0; });
}
WEFT_STAND_IN CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  return run("cuptiActivityRegisterTimestampCallback", [&] {
    library().set_timestamp(function);
    return 0;
  });
}
}  // extern "C"
