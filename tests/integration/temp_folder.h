// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_INTEGRATION_TEMP_FOLDER_H_
#define WEFT_TESTS_INTEGRATION_TEMP_FOLDER_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::test {

// A folder of one test; goes with the object, whatever is in it.
class TempFolder {
 public:
  TempFolder() {
    path_ = (std::filesystem::temp_directory_path() / "weft-XXXXXX").string();
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Paths of what is in it.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().string());
    return names;
  }

 private:
  std::string path_;
};

}  // namespace weft::test

#endif  // WEFT_TESTS_INTEGRATION_TEMP_FOLDER_H_
