// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_GPU_CUPTI_STAND_IN_RECORDS_H_
#define WEFT_TESTS_GPU_CUPTI_STAND_IN_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/cupti_stand_in/stand_in.h"

namespace weft::test {

// How long records of a kind are in a version of CUPTI; 0: it has none.
std::size_t record_bytes(std::uint32_t kind, std::uint32_t version);

// A record as that version writes it. `node` counts within a graph.
std::vector<std::uint8_t> make_record(const CudaWork& work,
                                      std::uint32_t correlation,
                                      std::uint32_t node, std::uint64_t start,
                                      std::uint64_t end, std::uint32_t version);

}  // namespace weft::test

#endif  // WEFT_TESTS_GPU_CUPTI_STAND_IN_RECORDS_H_
