// SPDX-License-Identifier: Apache-2.0
#include "numbered_path.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace weft::exporters {
namespace {

// Where the number goes: before the suffix, or at the end if there is none.
std::size_t place_of_number(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const bool has_suffix = dot != std::string_view::npos &&
                          (slash == std::string_view::npos || dot > slash);
  return has_suffix ? dot : path.size();
}

// The number in a file's name, 0 if it is none of ours.
std::uint64_t number_in(std::string_view name, std::string_view before,
                        std::string_view after) {
  if (name.size() <= before.size() + after.size() ||
      name.substr(0, before.size()) != before ||
      name.substr(name.size() - after.size()) != after)
    return 0;
  const std::string_view digits =
      name.substr(before.size(), name.size() - before.size() - after.size());
  std::uint64_t number = 0;
  const auto [end, fault] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  // "name.007.weft" is somebody else's: we write no leading zeros.
  if (fault != std::errc() || end != digits.data() + digits.size() ||
      digits.front() == '0')
    return 0;
  return number;
}

}  // namespace

std::string numbered_path(const std::string& path, std::uint64_t number) {
  const std::size_t at = place_of_number(path);
  return path.substr(0, at) + "." + std::to_string(number) + path.substr(at);
}

std::vector<NumberedFile> numbered_files(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::size_t name_at = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t at = place_of_number(path);
  const std::string before = path.substr(name_at, at - name_at) + ".";
  const std::string after = path.substr(at);

  std::vector<NumberedFile> files;
  std::error_code fault;
  std::filesystem::directory_iterator entry(directory, fault);
  for (; !fault && entry != std::filesystem::directory_iterator();
       entry.increment(fault)) {
    const std::uint64_t number =
        number_in(entry->path().filename().string(), before, after);
    std::error_code gone;  // somebody may remove it meanwhile
    if (number == 0 || !entry->is_regular_file(gone) || gone) continue;
    const std::uintmax_t bytes = entry->file_size(gone);
    if (!gone) files.push_back({number, bytes});
  }
  std::sort(files.begin(), files.end(),
            [](const NumberedFile& a, const NumberedFile& b) {
              return a.number < b.number;
            });
  return files;
}

}  // namespace weft::exporters
