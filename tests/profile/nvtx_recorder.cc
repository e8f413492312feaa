// SPDX-License-Identifier: Apache-2.0

// A tool that NVTX loads: it writes down pushed and popped ranges.

#include <nvtx3/nvToolsExt.h>

#include "marker_log.h"

namespace {

weft::test::MarkerLog the_log;

int push(const char* label) {
  the_log.add(true, label);
  return 0;
}
int pop() {
  the_log.add(false, "");
  return 0;
}
nvtxDomainHandle_t create_domain(const char*) {
  static int domain;
  return reinterpret_cast<nvtxDomainHandle_t>(&domain);
}

template <class Function>
void set(NvtxFunctionTable table, unsigned size, unsigned id,
         Function* function) {
  if (id < size) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) weft::test::MarkerLog*
weft_test_marker_log() {
  return &the_log;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(
      get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size))
    return 0;
  set(table, size, NVTX_CBID_CORE_RangePushA, &push);
  set(table, size, NVTX_CBID_CORE_RangePop, &pop);
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
    return 0;
  set(table, size, NVTX_CBID_CORE2_DomainCreateA, &create_domain);
  return 1;
}
