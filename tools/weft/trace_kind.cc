// SPDX-License-Identifier: Apache-2.0
#include "trace_kind.h"

#include <filesystem>
#include <fstream>
#include <string_view>

namespace weft::tools {

TraceKind trace_kind(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return TraceKind::kWeft;
  constexpr std::streamsize kBytes = 512;
  std::string begin(kBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), kBytes);
  begin.resize(static_cast<std::size_t>(file.gcount()));
  if (begin.empty()) {
    return path.ends_with(".weft") ? TraceKind::kWeft : TraceKind::kChromeJson;
  }
  std::string_view rest = begin;
  if (rest.starts_with("SQLite format 3")) return TraceKind::kSqlite;
  if (rest.starts_with("\x1f\x8b") || rest.starts_with("PK\x03\x04")) {
    return TraceKind::kChromeJson;
  }
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  const std::size_t text = rest.find_first_not_of(" \t\r\n");
  if (text == std::string_view::npos) return TraceKind::kWeft;
  rest.remove_prefix(text);
  if (rest.starts_with("<?xml")) return TraceKind::kXml;
  if (rest.front() == '[') return TraceKind::kChromeJson;
  // Python's dictionaries begin alike, but quote otherwise.
  const std::size_t next = rest.find_first_not_of(" \t\r\n", 1);
  const bool json = rest.front() == '{' && next != std::string_view::npos &&
                    (rest[next] == '"' || rest[next] == '}');
  return json ? TraceKind::kChromeJson : TraceKind::kWeft;
}

}  // namespace weft::tools
