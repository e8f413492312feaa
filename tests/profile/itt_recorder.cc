// SPDX-License-Identifier: Apache-2.0

// A collector that ITT loads: it writes down the tasks that begin and end.

#include <ittnotify.h>

#include <cstring>

#include "marker_log.h"

// The layout of what the static part hands over. It is C, and asks for this.
#define INTEL_NO_MACRO_BODY
#define INTEL_ITTNOTIFY_API_PRIVATE
#include <ittnotify_config.h>

namespace {

weft::test::MarkerLog the_log;

__itt_string_handle* ITTAPI create_string(const char* text) {
  auto* const handle = new __itt_string_handle();  // for the process's life
  handle->strA = strdup(text);
  return handle;
}
__itt_domain* ITTAPI create_domain(const char* name) {
  auto* const domain = new __itt_domain();
  domain->flags = 1;
  domain->nameA = strdup(name);
  return domain;
}
void ITTAPI begin(const __itt_domain* domain, __itt_id, __itt_id,
                  __itt_string_handle* name) {
  if (std::strcmp(domain->nameA, "weft") == 0) the_log.add(true, name->strA);
}
void ITTAPI end(const __itt_domain* domain) {
  if (std::strcmp(domain->nameA, "weft") == 0) the_log.add(false, "");
}

void* replacement(const char* name) {
  const std::pair<const char*, void*> known[] = {
      {"__itt_string_handle_create", reinterpret_cast<void*>(&create_string)},
      {"__itt_domain_create", reinterpret_cast<void*>(&create_domain)},
      {"__itt_task_begin", reinterpret_cast<void*>(&begin)},
      {"__itt_task_end", reinterpret_cast<void*>(&end)}};
  for (const auto& [text, function] : known)
    if (std::strcmp(text, name) == 0) return function;
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) weft::test::MarkerLog*
weft_test_marker_log() {
  return &the_log;
}

extern "C" __attribute__((visibility("default"))) void ITTAPI __itt_api_init(
    __itt_global* global, __itt_group_id) {
  for (int i = 0; global->api_list_ptr[i].name != nullptr; ++i) {
    const __itt_api_info& api = global->api_list_ptr[i];
    void* const function = replacement(api.name);
    *api.func_ptr = function != nullptr ? function : api.null_func;
  }
}
