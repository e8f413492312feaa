// SPDX-License-Identifier: Apache-2.0
#include "cupti/versions.h"

#include <limits>

namespace weft::cupti {
namespace {

constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();

struct Row {
  std::uint32_t last;  // of the versions that it is for
  VersionPolicy policy;
};

constexpr const char* kUntested =
    "a version of CUPTI that weft does not know well";
constexpr const char* kGraphs =
    "with this CUPTI graph launches of the second and later sessions may be "
    "joined wrongly; CUDA 13.1 update 1 mends it";

// 13 = CUDA 11.0, 17 = 11.7, 18 = 11.8, 23 = 12.5, 24 = 12.6, 27 = 12.9, then
// the release and update: 130001 = 13.0 update 1. Sources: the vendor's release
// notes and other tools' limits.
constexpr Row kRows[] = {
    {12,
     {.refused = true,
      .may_refuse_buffers = false,
      .reason = "CUPTI is too old; CUDA 11.0 is the oldest that weft reads"}},
    {17, {.may_refuse_buffers = false, .reason = kUntested}},
    {23,
     {.timestamp = TimestampUse::kBeforeContexts, .may_refuse_buffers = false}},
    // With a timestamp callback kernels have no times.
    {26, {.may_refuse_buffers = false}},
    {129'999, {}},
    {130'000,
     {.may_disable_kernels = false,
      .graph_joins_unsure = true,
      .reason = "CUPTI of CUDA 13.0 can deadlock and lose records; update 1 "
                "mends it"}},
    {130'099, {.graph_joins_unsure = true, .reason = kGraphs}},
    {130'100,
     {.timestamp = TimestampUse::kBeforeContexts,
      .graph_joins_unsure = true,
      .reason = kGraphs}},
    {130'199, {.timestamp = TimestampUse::kBeforeContexts}},
    {130'299,
     {.timestamp = TimestampUse::kBeforeContexts,
      .reason = "CUPTI of CUDA 13.2 slows down in long runs; 13.3 mends it"}},
    {130'302, {.timestamp = TimestampUse::kBeforeContexts}},
    {kLast, {.timestamp = TimestampUse::kAlways}},
};

}  // namespace

VersionPolicy policy_for(std::uint32_t version) noexcept {
  const Row* row = kRows;
  while (version > row->last) ++row;
  return row->policy;
}

}  // namespace weft::cupti
