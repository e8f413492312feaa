// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_DOCUMENT_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_DOCUMENT_H_

// What stands around the events of a file. Everything known at the start comes
// first, so that a file that is cut still says what it is.

#include <cstdint>
#include <string>

#include "chrome_json_counts.h"
#include "chrome_json_names.h"
#include "weft/clock_line.h"
#include "weft/export/trace_reader.h"

namespace weft::exporters {

struct DocumentPlace {
  std::uint32_t pid = 0;
  std::int64_t base_ns = 0;   // CLOCK_MONOTONIC at time 0 of the events
  std::uint32_t part = 0;     // number of this file, from 0
};

// From "{" up to and including the first event, which names the process.
void append_document_head(const TraceInfo& info, const ClockLine& line,
                          const DocumentPlace& place, EventNames* names,
                          std::string* out);

// From the "]" of the events to the end of the file. `counts` may be of the
// files so far, if this is not the last.
void append_document_tail(const TraceInfo& info, const ClockLine& line,
                          const ChromeJsonCounts& counts, EventNames* names,
                          std::string* out);

std::string_view in_words(DropReason reason) noexcept;

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_DOCUMENT_H_
