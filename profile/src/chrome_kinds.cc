// SPDX-License-Identifier: Apache-2.0
#include "chrome_kinds.h"

namespace weft::profile {
namespace {

bool ends_with(std::string_view text, std::string_view suffix) noexcept {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

}  // namespace

ChromeKind kind_of(const ChromeEvent& event) noexcept {
  const std::string_view category = event.category;
  if (category == "cpu_op" || category == "python_function") {
    return ChromeKind::kHost;
  }
  if (category == "kernel" || category == "Kernel" ||
      category == "gpu_memcpy" || category == "Memcpy" ||
      category == "gpu_memset" || category == "Memset" ||
      event.pid == "CUDA functions") {
    return ChromeKind::kDeviceWork;
  }
  if (category == "gpu_user_annotation" || category == "cuda_sync" ||
      category == "cuda_profiler_range") {
    return ChromeKind::kDeviceAnnotation;
  }
  if (category == "Trace") return ChromeKind::kProfiler;
  const bool call = category == "Runtime" || ends_with(category, "_runtime") ||
                    ends_with(category, "_driver");
  return call ? ChromeKind::kCall : ChromeKind::kHost;
}

std::optional<std::int64_t> end_of(const ChromeEvent& event) noexcept {
  std::int64_t end_ns = 0;
  if (!event.start_ns || !event.duration_ns ||
      __builtin_add_overflow(*event.start_ns, *event.duration_ns, &end_ns)) {
    return std::nullopt;
  }
  return end_ns;
}

std::string_view row_name(std::string_view name) noexcept {
  return name.substr(0, 13) == "ProfilerStep#" ? "ProfilerStep*" : name;
}

int device_index_of(const ChromeEvent& event) noexcept {
  constexpr std::int64_t kMostDevices = 1 << 16;
  const std::int64_t device = whole_number(event.device).value_or(0);
  return device >= 0 && device < kMostDevices ? static_cast<int>(device) : 0;
}

}  // namespace weft::profile
