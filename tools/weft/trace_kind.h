// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_TRACE_KIND_H_
#define WEFT_TOOLS_WEFT_TRACE_KIND_H_

#include <cstdint>
#include <string>

namespace weft::tools {

// What a file is, told by its first bytes: names lie.
enum class TraceKind : std::uint8_t {
  kWeft,        // or nothing known: its reader will say what is wrong
  kChromeJson,  // plain, gzip or ZIP
  kSqlite,      // of nvprof or Nsight Systems
  kXml,         // a project of the Visual Profiler; not read
};

TraceKind trace_kind(const std::string& path);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_TRACE_KIND_H_
