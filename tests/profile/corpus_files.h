// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_PROFILE_CORPUS_FILES_H_
#define WEFT_TESTS_PROFILE_CORPUS_FILES_H_

// The public trace files that tests read, which lie beside the project.

#include <cstdlib>
#include <filesystem>

namespace weft::testing_support {

inline std::filesystem::path data_folder() {
  const char* set = std::getenv("WEFT_TEST_DATA");
  return set != nullptr ? set : WEFT_TEST_DATA;
}

}  // namespace weft::testing_support

// Skips a test where the files are not.
#define WEFT_NEED_CORPUS()                                          \
  if (const auto list =                                             \
          ::weft::testing_support::data_folder() / "expected.json"; \
      !std::filesystem::exists(list))                               \
  GTEST_SKIP() << "no " << list << "; set WEFT_TEST_DATA"

#endif  // WEFT_TESTS_PROFILE_CORPUS_FILES_H_
