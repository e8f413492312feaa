// SPDX-License-Identifier: Apache-2.0
#include "cupti/refusal.h"

#include <algorithm>
#include <iterator>

namespace weft::cupti {
namespace {

struct Words {
  int code;
  const char* text;
};

constexpr Words kWords[] = {
    {2, "CUPTI finds no usable device"},
    {7, "the call is not allowed now"},
    {8, "CUPTI is out of memory"},
    {9, "the device has failed"},
    {11, "this CUPTI does not have the call"},
    // Before CUDA 11.0 the code of a second subscriber.
    {12,
     "another profiler uses CUPTI in this process; close Nsight, ncu, cuda-gdb "
     "or a framework's profiler and start again"},
    {14, "another tool uses CUPTI in a mode that does not share"},
    {15, "CUPTI failed to initialise"},
    {21, "CUPTI does not know the kind of record"},
    {23, "CUPTI is disabled in this process"},
    {27, "the device does not support it"},
    {33, "not on this device: virtual GPU"},
    {34, "driver and CUPTI do not fit together"},
    {35,
     "no permission: the administrator restricts profiling "
     "(NVreg_RestrictProfilingToAdminUsers) or the container lacks "
     "CAP_SYS_ADMIN"},
    {39,
     "another profiler uses CUPTI in this process; close Nsight, ncu, cuda-gdb "
     "or a framework's profiler and start again"},
    {40, "not on this device: virtual GPU without the permission to profile"},
    {41, "not on this device: confidential computing"},
    {42, "not on this device: crypto-mining board"},
    {43, "not on this device: MIG"},
    {44, "not on this device: SLI"},
    {45, "not on this device: WSL"},
    {999, "CUPTI failed to initialise, or the driver has no usable device"},
};

}  // namespace

std::string words_for(int code) {
  const auto* found =
      std::find_if(std::begin(kWords), std::end(kWords),
                   [&](const Words& words) { return words.code == code; });
  return std::string(found == std::end(kWords) ? "CUPTI failed" : found->text) +
         " (CUPTI error " + std::to_string(code) + ")";
}

}  // namespace weft::cupti
