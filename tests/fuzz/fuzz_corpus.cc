// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of a fuzz target: fuzz_corpus weft|chrome|database DIRECTORY.

#include <cstdio>
#include <string>

#include "fuzz/import_seeds.h"
#include "fuzz/trace_seeds.h"

int main(int count, char** arguments) {
  const std::string kind = count == 3 ? arguments[1] : "";
  std::vector<weft::test::Bytes> seeds;
  if (kind == "weft") seeds = weft::test::trace_seeds();
  if (kind == "chrome") seeds = weft::test::chrome_seeds();
  if (kind == "database") seeds = weft::test::database_seeds();
  if (seeds.empty()) {
    std::fputs("usage: fuzz_corpus weft|chrome|database DIRECTORY\n", stderr);
    return 2;
  }
  int number = 0;
  for (const auto& seed : seeds) {
    weft::test::write_file(
        std::string(arguments[2]) + "/seed" + std::to_string(number++), seed);
  }
  return 0;
}
