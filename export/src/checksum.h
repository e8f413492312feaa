// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHECKSUM_H_
#define WEFT_EXPORT_SRC_CHECKSUM_H_

#include <cstddef>
#include <cstdint>

namespace weft::exporters {

// XXH3-64 without a seed.
std::uint64_t checksum(const void* bytes, std::size_t size) noexcept;

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHECKSUM_H_
