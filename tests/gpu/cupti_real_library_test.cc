// SPDX-License-Identifier: Apache-2.0

// The vendor's own libcupti, where it is installed. Without a driver it can
// walk buffers, and that is what is asked of it here.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cupti/cupti_source.h"
#include "cupti/launch_calls.h"
#include "cupti/record_reader.h"
#include "gpu/cupti_stand_in/records.h"
#include "weft/gpu/device_registry.h"
#include "weft/status.h"

namespace weft {
namespace {

// The release of the headers that the stand-in was built with.
constexpr std::uint32_t kNewestKnown = 130099;

cupti::CuptiCalls real_calls(std::uint32_t* version) {
  cupti::CuptiCalls calls;
  for (const std::string& name : cupti::cupti_candidates({})) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    calls.version = reinterpret_cast<decltype(calls.version)>(
        dlsym(library, "cuptiGetVersion"));
    calls.next_record = reinterpret_cast<decltype(calls.next_record)>(
        dlsym(library, "cuptiActivityGetNextRecord"));
    calls.callback_name = reinterpret_cast<decltype(calls.callback_name)>(
        dlsym(library, "cuptiGetCallbackName"));
    if (calls.version(version) == cupti::kSuccess) return calls;
  }
  *version = 0;
  return calls;
}

// The stand-in fills buffers as the real library would; this holds it to that.
TEST(CuptiRealLibrary, WalksTheRecordsThatTheStandInMakes) {
  std::uint32_t version = 0;
  const cupti::CuptiCalls calls = real_calls(&version);
  if (version == 0) GTEST_SKIP() << "no libcupti here";
  if (version > kNewestKnown || version < 130000)
    GTEST_SKIP() << "the headers are of another release than " << version;
  std::vector<std::uint8_t> buffer;
  std::size_t made = 0;
  for (int round = 0; round < 50; ++round)
    for (const std::uint32_t kind : {10u, 1u, 22u, 2u, 38u, 17u, 5u, 4u, 51u}) {
      test::CudaWork work;
      work.kind = kind;
      work.call = 211;
      const std::vector<std::uint8_t> record =
          test::make_record(work, 7, 0, 100, 200, version);
      buffer.insert(buffer.end(), record.begin(), record.end());
      ++made;
    }
  cupti::RecordReader reader(calls);
  std::vector<DeviceActivity> activities;
  reader.read(buffer.data(), buffer.size(), activities);
  EXPECT_EQ(reader.counts().records, made);
  EXPECT_EQ(reader.counts().too_short, 0u);
  EXPECT_EQ(reader.counts().unreadable, 0u);
  ASSERT_EQ(activities.size(), made);
  for (const DeviceActivity& activity : activities) {
    EXPECT_EQ(activity.start, 100u);
    EXPECT_EQ(activity.end, 200u);
    EXPECT_NE(activity.kind, ActivityKind{});
    if (activity.kind == ActivityKind::kApi) {
      EXPECT_FALSE(activity.text.empty()) << "the library knows the call";
    }
  }
}

// gpu.md 5.2: a list of numbers would have missed these.
TEST(CuptiRealLibrary, LaunchCallsAreFoundByName) {
  std::uint32_t version = 0;
  const cupti::CuptiCalls calls = real_calls(&version);
  if (version == 0) GTEST_SKIP() << "no libcupti here";
  std::size_t runtime = 0, driver = 0;
  for (const cupti::LaunchCall& launch : cupti::launch_calls(calls))
    ++(launch.domain == cupti::Domain::kRuntime ? runtime : driver);
  EXPECT_GE(runtime, 40u);
  EXPECT_GE(driver, 40u);
  if (version == 130001) {
    EXPECT_EQ(runtime, 95u);
    EXPECT_EQ(driver, 137u);
  }
  EXPECT_TRUE(cupti::is_launch_name("cudaLaunchKernelExC_v11060"));
  EXPECT_TRUE(cupti::is_launch_name("cuGraphLaunch_ptsz"));
  EXPECT_FALSE(cupti::is_launch_name("cudaGetLastError_v3020"));
  EXPECT_FALSE(cupti::is_launch_name("Launch"));
}

// Where there is no driver nothing of CUPTI's is even loaded: its calls would
// take milliseconds each, to say nothing.
TEST(CuptiRealLibrary, WithoutADriverItIsNotLoaded) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr)
    GTEST_SKIP() << "there is a driver here";
  EXPECT_EQ(device_source(DeviceFamily::kCuda)->name, "cupti");
  const DeviceAbilities abilities = probe_device_source(DeviceFamily::kCuda);
  EXPECT_EQ(abilities.devices, 0u);
  EXPECT_EQ(abilities.reason,
            "no NVIDIA driver on this machine (libcuda.so.1 not found)");
  EXPECT_EQ(status().gpu, "unavailable: " + abilities.reason);
}

TEST(CuptiOptions, TheEnvironmentSaysWhetherAndWhatIsOpened) {
  for (const char* name :
       {"WEFT_GPU", "WEFT_CUPTI_LIBRARY", "WEFT_CUDA_LIBRARY"})
    unsetenv(name);
  const cupti::CuptiOptions plain = cupti::options_from_environment();
  EXPECT_EQ(plain.forbidden, "");
  EXPECT_TRUE(plain.names.load_driver);
  EXPECT_EQ(plain.names.driver, "libcuda.so.1");
  EXPECT_EQ(plain.names.cupti, "");
  setenv("WEFT_CUPTI_LIBRARY", "/opt/libcupti.so", 1);
  setenv("WEFT_CUDA_LIBRARY", "/opt/libcuda.so", 1);
  setenv("WEFT_GPU", "auto", 1);
  const cupti::CuptiOptions set = cupti::options_from_environment();
  EXPECT_EQ(set.names.cupti, "/opt/libcupti.so");
  EXPECT_EQ(set.names.driver, "/opt/libcuda.so");
  EXPECT_FALSE(set.names.load_driver);
  setenv("WEFT_GPU", "off", 1);
  EXPECT_EQ(cupti::options_from_environment().forbidden,
            "WEFT_GPU=off forbids it");
  setenv("WEFT_GPU", "yes", 1);
  EXPECT_EQ(cupti::options_from_environment().forbidden,
            "WEFT_GPU is \"yes\", not off, auto or on");
  for (const char* name :
       {"WEFT_GPU", "WEFT_CUPTI_LIBRARY", "WEFT_CUDA_LIBRARY"})
    unsetenv(name);
}

}  // namespace
}  // namespace weft
