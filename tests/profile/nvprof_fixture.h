// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_PROFILE_NVPROF_FIXTURE_H_
#define WEFT_TESTS_PROFILE_NVPROF_FIXTURE_H_

// Writes small databases in the shape of nvprof's.

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::testing_support {

class NvprofFile {
 public:
  explicit NvprofFile(std::string_view name);  // in the test's own folder
  ~NvprofFile();
  NvprofFile(const NvprofFile&) = delete;
  NvprofFile& operator=(const NvprofFile&) = delete;

  const std::string& path() const { return path_; }

  // The tables with the columns that every version has.
  void create_tables();
  void run(const std::string& sql);

  void add_string(std::int64_t id, std::string_view value);
  void add_marker(std::int64_t id, std::int64_t name, std::int64_t at);
  void add_call(std::int64_t row, std::int64_t cbid, std::int64_t start,
                std::int64_t end, std::int64_t correlation);
  void add_kernel(std::int64_t start, std::int64_t end, std::int64_t name,
                  std::int64_t correlation);
  // Before anybody else opens the file.
  void close();

 private:
  std::string path_;
  sqlite3* database_ = nullptr;
};

}  // namespace weft::testing_support

#endif  // WEFT_TESTS_PROFILE_NVPROF_FIXTURE_H_
