// SPDX-License-Identifier: Apache-2.0
// libFuzzer target. Each input is read as it is, and with right checksums.

#include <vector>

#include "fuzz/trace_exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  weft::exporters::exercise(data, size);
  std::vector<std::uint8_t> bytes(data, data + size);
  weft::exporters::reseal_blocks(&bytes);
  weft::exporters::exercise(bytes.data(), bytes.size());
  return 0;
}
