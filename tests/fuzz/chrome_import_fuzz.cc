// SPDX-License-Identifier: Apache-2.0
// libFuzzer target.

#include "fuzz/import_exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static weft::test::InputFile file;
  weft::test::exercise_chrome(file.hold(data, size));
  return 0;
}
