// SPDX-License-Identifier: Apache-2.0

// A program that uses the device, and profiles what it does there.
//
//   weft_device libnpu.so

#include <dlfcn.h>

#include <cstdio>
#include <memory>
#include <string>

#include "npu.h"
#include "weft/gpu/device_registry.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_function.h"

namespace {

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

int fail(const std::string& why) {
  std::fprintf(stderr, "weft_device: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: weft_device LIBRARY");
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) return fail(dlerror());
  const auto make_source =
      symbol<decltype(npu_device_source)>(library, "npu_device_source");
  const auto launch = symbol<decltype(npu_launch)>(library, "npu_launch");
  if (make_source == nullptr || launch == nullptr)
    return fail(std::string(argv[1]) + " is not the library of the device");

  std::shared_ptr<weft::DeviceSource> source;
  make_source(&source);
  if (const weft::Result<void> registered = weft::register_device_source(
          weft::DeviceFamily::kCustom, "npu", source);
      !registered.ok())
    return fail(registered.error().message);

  weft::ProfilerOptions options;
  options.use_device = "npu";
  weft::Profiler profiler(options);
  if (const weft::Result<void> started = profiler.start(); !started.ok())
    return fail(started.error().message);
  for (int i = 0; i < 3; ++i) {
    WEFT_RECORD_USER_SCOPE("request");
    {
      WEFT_RECORD_FUNCTION("layer");
      launch("gemm", 200);
      launch("bias", 50);
    }
    WEFT_RECORD_FUNCTION("head");
    launch("softmax", 100);
  }
  if (const weft::Result<void> stopped = profiler.stop(); !stopped.ok())
    return fail(stopped.error().message);

  const auto averages = profiler.key_averages();
  if (!averages.ok()) return fail(averages.error().message);
  std::printf("%s", averages->table().c_str());
  // Nine kernels of known length, all of them of some call.
  const auto statistics = profiler.statistics();
  const weft::FunctionEventAvg* layer = averages->find("layer");
  if (statistics->device.unattributed_device_rows != 0 || layer == nullptr ||
      layer->device_time_total_ns[weft::DeviceFamily::kCustom] < 3 * 250'000)
    return fail("the kernels are not all there");
  return 0;
}
