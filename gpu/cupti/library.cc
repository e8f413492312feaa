// SPDX-License-Identifier: Apache-2.0
#include "cupti/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cupti/refusal.h"
#include "cupti/versions.h"

namespace weft::cupti {
namespace {

// Until 11.8 the soname carried the minor number.
constexpr const char* kSonames[] = {
    "libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
    "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
    "libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2",
    "libcupti.so.11.1", "libcupti.so.11.0"};

Error unavailable(std::string why) {
  return Error{ErrorCode::kUnavailable, std::move(why)};
}

// Fills function pointers by name, and remembers which required one was
// missing first.
class Symbols {
 public:
  Symbols(const Linker& linker, void* library)
      : linker_(linker), library_(library) {}
  template <class Function>
  void require(Function*& place, const char* name) {
    optional(place, name);
    if (place == nullptr && missing_.empty()) missing_ = name;
  }
  template <class Function>
  void optional(Function*& place, const char* name) {
    place = reinterpret_cast<Function*>(linker_.symbol(library_, name));
  }
  const std::string& missing() const noexcept { return missing_; }

 private:
  const Linker& linker_;
  void* const library_;
  std::string missing_;
};

Result<void> open_driver(const LibraryNames& names, const Linker& linker,
                         Libraries& libraries) {
  void* library = linker.open(names.driver, true);
  if (library == nullptr && !names.load_driver)
    return unavailable("the program has not loaded the NVIDIA driver (" +
                       names.driver + "), and WEFT_GPU=auto waits for that");
  if (library == nullptr) library = linker.open(names.driver, false);
  if (library == nullptr)
    return unavailable("no NVIDIA driver on this machine (" + names.driver +
                       " not found)");
  DriverCalls& calls = libraries.driver;
  Symbols symbols(linker, library);
  symbols.require(calls.version, "cuDriverGetVersion");
  symbols.optional(calls.device_count, "cuDeviceGetCount");
  symbols.optional(calls.primary_state, "cuDevicePrimaryCtxGetState");
  symbols.optional(calls.primary_retain, "cuDevicePrimaryCtxRetain");
  symbols.optional(calls.primary_release, "cuDevicePrimaryCtxRelease_v2");
  symbols.optional(calls.push_context, "cuCtxPushCurrent_v2");
  symbols.optional(calls.pop_context, "cuCtxPopCurrent_v2");
  symbols.optional(calls.synchronize, "cuCtxSynchronize");
  symbols.optional(calls.exchange_capture_mode,
                   "cuThreadExchangeStreamCaptureMode");
  if (!symbols.missing().empty())
    return unavailable("the NVIDIA driver (" + names.driver + ") lacks " +
                       symbols.missing());
  if (const int code = calls.version(&libraries.driver_version); code != 0)
    return unavailable("the NVIDIA driver does not say its version (error " +
                       std::to_string(code) + ")");
  return {};
}

std::string missing_of(const Symbols& symbols, const std::string& path) {
  return path + " lacks " + symbols.missing() + ": it is damaged or not CUPTI";
}

// Whether a libcupti of that name can work with the driver, which must not be
// of an older major release. Names that say nothing can.
bool fits_driver(const std::string& name, int driver_version) {
  constexpr std::string_view kBeginning = "libcupti.so.";
  const std::size_t at = name.rfind(kBeginning);
  return at == std::string::npos ||
         std::atoi(name.c_str() + at + kBeginning.size()) <=
             driver_version / 1000;
}

Result<void> resolve_cupti(void* library, const Linker& linker,
                           Libraries& libraries) {
  CuptiCalls& calls = libraries.cupti;
  Symbols symbols(linker, library);
  symbols.require(calls.version, "cuptiGetVersion");
  symbols.require(calls.subscribe, "cuptiSubscribe");
  symbols.require(calls.unsubscribe, "cuptiUnsubscribe");
  symbols.require(calls.enable_callback, "cuptiEnableCallback");
  symbols.require(calls.enable_domain, "cuptiEnableDomain");
  symbols.require(calls.callback_name, "cuptiGetCallbackName");
  symbols.require(calls.register_buffers, "cuptiActivityRegisterCallbacks");
  symbols.require(calls.enable, "cuptiActivityEnable");
  symbols.require(calls.disable, "cuptiActivityDisable");
  symbols.require(calls.flush, "cuptiActivityFlushAll");
  symbols.require(calls.next_record, "cuptiActivityGetNextRecord");
  symbols.require(calls.dropped, "cuptiActivityGetNumDroppedRecords");
  symbols.require(calls.timestamp, "cuptiGetTimestamp");
  symbols.optional(calls.set_thread_id_type, "cuptiSetThreadIdType");
  symbols.optional(calls.set_attribute, "cuptiActivitySetAttribute");
  symbols.optional(calls.register_timestamp,
                   "cuptiActivityRegisterTimestampCallback");
  if (!symbols.missing().empty())
    return unavailable(missing_of(symbols, libraries.path));
  if (const int code = calls.version(&libraries.cupti_version);
      code != kSuccess)
    return unavailable(libraries.path +
                       " does not say its version: " + words_for(code));
  const VersionPolicy policy = policy_for(libraries.cupti_version);
  if (policy.refused) return unavailable(libraries.path + ": " + policy.reason);
  return {};
}

}  // namespace

Linker system_linker() {
  return {
      [](const std::string& name, bool resident_only) {
        return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE |
                                        (resident_only ? RTLD_NOLOAD : 0));
      },
      [](void* library, const char* symbol) { return dlsym(library, symbol); }};
}

std::vector<std::string> cupti_candidates(const LibraryNames& names) {
  if (!names.cupti.empty()) return {names.cupti};
  std::vector<std::string> all(std::begin(kSonames), std::end(kSonames));
  std::vector<std::string> homes;
  if (const char* home = secure_getenv("CUDA_HOME"); home != nullptr)
    homes.emplace_back(home);
  homes.emplace_back("/usr/local/cuda");
  for (const std::string& home : homes)
    for (const char* folder : {"/lib64/", "/extras/CUPTI/lib64/"})
      for (const char* soname : kSonames) all.push_back(home + folder + soname);
  return all;
}

Result<Libraries> open_libraries(const LibraryNames& names,
                                 const Linker& linker) {
  Libraries libraries;
  if (Result<void> driver = open_driver(names, linker, libraries); !driver.ok())
    return driver.error();
  std::vector<std::string> candidates = cupti_candidates(names);
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](const std::string& name) {
                          return fits_driver(name, libraries.driver_version);
                        });
  void* library = nullptr;
  // Two copies in one process would be two subscribers, so one that is there
  // already goes first.
  for (const bool resident_only : {true, false})
    for (const std::string& candidate : candidates) {
      if (library != nullptr) break;
      library = linker.open(candidate, resident_only);
      libraries.path = candidate;
    }
  if (library == nullptr) {
    const int version = libraries.driver_version;
    const std::string release = std::to_string(version / 1000) + '.' +
                                std::to_string(version % 1000 / 10);
    return unavailable(
        "driver for CUDA " + release + " found, " +
        (names.cupti.empty() ? "libcupti" : names.cupti) +
        " not; install CUPTI of that CUDA or set WEFT_CUPTI_LIBRARY");
  }
  if (Result<void> cupti = resolve_cupti(library, linker, libraries);
      !cupti.ok())
    return cupti.error();
  return libraries;
}

}  // namespace weft::cupti
