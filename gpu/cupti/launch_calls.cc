// SPDX-License-Identifier: Apache-2.0
#include "cupti/launch_calls.h"

#include <algorithm>
#include <iterator>

namespace weft::cupti {
namespace {

constexpr std::string_view kBeginnings[] = {"Launch",
                                            "GraphLaunch",
                                            "Memcpy",
                                            "Memset",
                                            "MemPrefetch",
                                            "MemDiscard",
                                            "MallocAsync",
                                            "MallocFromPoolAsync",
                                            "FreeAsync",
                                            "MemAllocAsync",
                                            "MemFreeAsync",
                                            "MemAllocFromPoolAsync",
                                            "MemBatchDecompress"};

// Numbers have gaps; past this many misses in a row there are no more.
constexpr std::uint32_t kMostMisses = 64;
constexpr std::uint32_t kMostCalls = 1u << 16;

}  // namespace

bool is_launch_name(std::string_view name) noexcept {
  if (name.substr(0, 4) == "cuda") {
    name.remove_prefix(4);
  } else if (name.substr(0, 2) == "cu") {
    name.remove_prefix(2);
  } else {
    return false;
  }
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [&](std::string_view beginning) {
                       return name.substr(0, beginning.size()) == beginning;
                     });
}

std::vector<LaunchCall> launch_calls(const CuptiCalls& calls) {
  std::vector<LaunchCall> found;
  for (const Domain domain : {Domain::kRuntime, Domain::kDriver}) {
    std::uint32_t misses = 0;
    for (std::uint32_t call = 1; call < kMostCalls && misses < kMostMisses;
         ++call) {
      const char* name = nullptr;
      if (calls.callback_name(static_cast<std::uint32_t>(domain), call,
                              &name) != kSuccess ||
          name == nullptr) {
        ++misses;
        continue;
      }
      misses = 0;
      if (is_launch_name(name)) found.push_back({domain, call});
    }
  }
  return found;
}

}  // namespace weft::cupti
