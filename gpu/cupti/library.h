// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_LIBRARY_H_
#define WEFT_GPU_CUPTI_LIBRARY_H_

// The vendor's libraries, opened while the program runs. Nothing of them is
// linked: a machine without them runs the same binary.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cupti/abi.h"
#include "weft/result.h"

namespace weft::cupti {

// How libraries are found; tests put something else here.
struct Linker {
  // As dlopen(): null when there is none. With `resident_only` a library that
  // is not loaded yet counts as none.
  std::function<void*(const std::string& name, bool resident_only)> open;
  std::function<void*(void* library, const char* symbol)> symbol;
};
Linker system_linker();

// Of libcuda. Any but the version may be null.
struct DriverCalls {
  int (*version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*primary_state)(int device, unsigned* flags, int* active) = nullptr;
  int (*primary_retain)(void** context, int device) = nullptr;
  int (*primary_release)(int device) = nullptr;
  int (*push_context)(void* context) = nullptr;
  int (*pop_context)(void** context) = nullptr;
  int (*synchronize)() = nullptr;
  int (*exchange_capture_mode)(int* mode) = nullptr;
};

// Of libcupti. All down to `timestamp` are there; the others may be null.
struct CuptiCalls {
  int (*version)(std::uint32_t*) = nullptr;
  int (*subscribe)(void** subscriber, Callback, void* user) = nullptr;
  int (*unsubscribe)(void* subscriber) = nullptr;
  int (*enable_callback)(std::uint32_t on, void* subscriber,
                         std::uint32_t domain, std::uint32_t call) = nullptr;
  int (*enable_domain)(std::uint32_t on, void* subscriber,
                       std::uint32_t domain) = nullptr;
  int (*callback_name)(std::uint32_t domain, std::uint32_t call,
                       const char** name) = nullptr;
  int (*register_buffers)(BufferRequest, BufferComplete) = nullptr;
  int (*enable)(std::uint32_t kind) = nullptr;
  int (*disable)(std::uint32_t kind) = nullptr;
  int (*flush)(std::uint32_t flags) = nullptr;
  int (*next_record)(std::uint8_t* buffer, std::size_t valid_bytes,
                     void** record) = nullptr;
  int (*dropped)(void* context, std::uint32_t stream,
                 std::size_t* count) = nullptr;
  int (*timestamp)(std::uint64_t* ns) = nullptr;
  int (*set_thread_id_type)(std::uint32_t type) = nullptr;
  int (*set_attribute)(std::uint32_t attribute, std::size_t* bytes,
                       void* value) = nullptr;
  int (*register_timestamp)(TimestampCallback) = nullptr;
};

struct Libraries {
  DriverCalls driver;
  CuptiCalls cupti;
  int driver_version = 0;           // 13000 is CUDA 13.0
  std::uint32_t cupti_version = 0;  // as versions.h has them
  std::string path;                 // by which libcupti was found
};

struct LibraryNames {
  std::string driver = "libcuda.so.1";
  // Asked for; empty: the sonames below, then in the toolkit's usual place.
  std::string cupti{};
  // Whether a driver may be loaded that the program has not loaded itself.
  bool load_driver = true;
};

// What is tried for libcupti, in this order, but for those that are newer than
// the driver: they come last.
std::vector<std::string> cupti_candidates(const LibraryNames& names);

// Asks for the driver first: without one CUPTI answers nearly every call with
// an unknown error, a millisecond later. The libraries are never unloaded;
// CUDA 13.0 and 13.1 crash when libcupti is.
//
// Errors: kUnavailable  with the reason in words: no driver, no libcupti, a
//                       symbol that it lacks, a version that is too old
// Thread-safe. Cold: up to 100 ms the first time.
Result<Libraries> open_libraries(const LibraryNames& names,
                                 const Linker& linker);

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_LIBRARY_H_
