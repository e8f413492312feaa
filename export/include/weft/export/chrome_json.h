// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_CHROME_JSON_H_
#define WEFT_EXPORT_CHROME_JSON_H_

// Chrome's trace format, which chrome://tracing, Perfetto, speedscope and
// DevTools open. Always the object form of strict JSON with
// "displayTimeUnit":"ns"; one event a line. A path that ends in ".gz" is
// compressed.
//
// A file that was written to its end is complete. One that is written live
// (make_chrome_json_exporter) and whose process is killed is cut anywhere:
//   * plain: every line that ends in a line feed is whole;
//   * ".gz": every block that was handed to the system is whole;
// and repair_json() makes strict JSON of it that lacks at most the event it was
// cut in, and what the process had not written yet.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weft/export/trace_reader.h"
#include "weft/exporter.h"
#include "weft/internal/api.h"
#include "weft/result.h"

namespace weft::exporters {

// What viewers load: chrome://tracing keeps a file in one string, of which V8
// allows 2^29 characters; Perfetto's page runs in 4 GiB of memory and takes
// about 300 bytes an event.
inline constexpr std::uint64_t kViewerTextBytes = 512u << 20;
inline constexpr std::uint64_t kViewerEvents = 10'000'000;

// With a limit set, the files are name.000.json, name.001.json, ...; each is
// complete by itself, and spans that are open at a cut are in both, marked
// "clipped". Events of other threads may lie up to one flush interval of the
// recorder across a cut.
struct ChromeJsonOptions {
  // A file's JSON text, before compression; 0: no limit. At least
  // kMinFileBytes. Exceeded only by the names of the spans that are open then.
  std::uint64_t max_bytes = 0;
  std::chrono::nanoseconds max_duration{0};  // of a file's events; 0: no limit

  static constexpr std::uint64_t kMinFileBytes = 64u << 10;
};

struct JsonFileReport {
  std::string path;
  std::uint64_t events = 0;
  std::uint64_t text_bytes = 0;  // what a viewer has to load
  std::uint64_t file_bytes = 0;
  std::string hint;              // not empty if viewers will not load it
};

// Converts what `reader` reads, from its first record on, in two passes and in
// memory that does not depend on the size of the file. Replaces files.
//
// Errors: kInvalidArgument  a limit is too small
//         kIo               a file cannot be written; it is left as it is
// Cold. One thread at a time.
WEFT_API Result<std::vector<JsonFileReport>> convert_to_chrome_json(
    TraceReader& reader, const std::string& path,
    const ChromeJsonOptions& options = {});

struct JsonRepairReport {
  std::uint64_t events = 0;         // kept
  std::uint64_t spans_closed = 0;   // that were open at the cut
  std::uint64_t bytes_left_out = 0; // behind the last whole event
  bool was_complete = false;        // nothing had to be repaired
};

// Makes a complete file of one that weft was writing when its process ended:
// drops an event that is not whole, closes open spans at the last time of their
// thread, ends the document. Either path may end in ".gz".
//
// Errors: kIo, kCorrupt (not a file of weft's, or cut before its first event).
WEFT_API Result<JsonRepairReport> repair_json(const std::string& from,
                                              const std::string& to);

// Writes records as they come; what weft_open_output() makes of ".json" and
// ".json.gz". Spans that turn out not to nest are closed early on their thread
// and shown whole as async spans, since it cannot read ahead. Empty on failure,
// with the reason in `*error`.
WEFT_API std::unique_ptr<Exporter> make_chrome_json_exporter(
    const OutputOptions& options, Error* error);

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_CHROME_JSON_H_
