// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_QUANTITY_TEXT_H_
#define WEFT_PROFILE_QUANTITY_TEXT_H_

// How tables write times, shares, bytes and FLOPs.

#include <cstdint>
#include <optional>
#include <string>

#include "weft/profile/table_options.h"

namespace weft {

// "1.500ms". Negative values stay in microseconds unless a unit is given.
std::string format_time(double microseconds, TimeUnit unit = TimeUnit::kAuto);

// "33.33%"; "NaN" of nothing.
std::string format_time_share(std::int64_t part_ns, std::int64_t total_ns);

// "1.50 KB", in powers of 1024.
std::string format_memory(std::int64_t bytes);
// "1.50 Kb", as PyTorch 2.2 writes the same.
std::string format_memory_reference(std::int64_t bytes);

// The unit for a column of FLOPs, chosen by the smallest value in it.
struct FlopsScale {
  double factor = 1;
  const char* unit = "FLOPs";
};
FlopsScale flops_scale(std::uint64_t smallest) noexcept;
// "--" for none.
std::string format_flops(std::optional<std::uint64_t> flops,
                         const FlopsScale& scale);

}  // namespace weft

#endif  // WEFT_PROFILE_QUANTITY_TEXT_H_
