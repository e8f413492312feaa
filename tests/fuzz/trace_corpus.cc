// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of the fuzz target: trace_corpus DIRECTORY.

#include <cstdio>
#include <string>

#include "fuzz/trace_seeds.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: trace_corpus DIRECTORY\n", stderr);
    return 2;
  }
  int number = 0;
  for (const auto& seed : weft::test::trace_seeds()) {
    weft::test::write_file(std::string(arguments[1]) + "/seed" +
                               std::to_string(number++) + ".weft",
                           seed);
  }
  return 0;
}
