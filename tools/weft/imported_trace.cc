// SPDX-License-Identifier: Apache-2.0
#include "imported_trace.h"

#include <fmt/format.h>

#include <utility>

#include "line_clock.h"
#include "quantity_text.h"
#include "terminal.h"
#include "trace_file.h"
#include "trace_kind.h"
#include "trace_rows.h"
#include "weft/profile/chrome_import.h"
#include "weft/profile/chrome_summary.h"
#include "weft/profile/nsys.h"
#include "weft/profile/nvprof.h"

namespace weft::tools {
namespace {

void note(const std::string& path, const std::vector<std::string>& skipped) {
  for (const std::string& line : skipped)
    complain(fmt::format("{}: note: {}", path, line));
}

template <class Import>
std::optional<EventList> rows_of(const std::string& path,
                                 Result<Import> import) {
  if (!import) {
    refuse(path, import.error());
    return std::nullopt;
  }
  note(path, import->skipped);
  return std::move(import->events);
}

std::optional<EventList> weft_rows(const std::string& path) {
  auto reader = open_trace(path);
  if (!reader) return std::nullopt;
  LineClock clock(reader->info());
  TraceRows rows(reader->info());
  Progress progress("reading");
  exporters::DecodedRecord record;
  while (reader->next(&record)) {
    rows.add(record, clock.time_of(record));
    progress.step([&] { return reader->progress(); });
  }
  rows.finish();
  remark(path, reader->info());
  if (const std::uint64_t lost = lost_records(reader->info()); lost != 0)
    note(path, {"lost while recording: " + plural(lost, "record")});
  if (rows.incomplete() > 0)
    note(path, {plural(rows.incomplete(), "span") +
                " without a begin or an end in the file"});
  return rows.take();
}

std::optional<EventList> database_rows(const std::string& path) {
  const auto is_nsys = is_nsys_file(path);
  if (!is_nsys) {
    refuse(path, is_nsys.error());
    return std::nullopt;
  }
  return *is_nsys ? rows_of(path, import_nsys(path))
                  : rows_of(path, parse_nvprof_trace(path));
}

}  // namespace

std::optional<EventList> import_trace(const std::string& path) {
  switch (trace_kind(path)) {
    case TraceKind::kChromeJson: return rows_of(path, import_chrome_trace(path));
    case TraceKind::kSqlite: return database_rows(path);
    case TraceKind::kXml:
      complain(path + ": is XML, not a trace");
      return std::nullopt;
    case TraceKind::kWeft: break;
  }
  return weft_rows(path);
}

std::optional<KeyAverages> key_averages_of(const std::string& path,
                                           const KeyOptions& options) {
  const bool by_name =
      !options.group_by_input_shape && options.group_by_stack_n == 0;
  if (by_name && trace_kind(path) == TraceKind::kChromeJson) {
    auto summary = summarize_chrome_trace(path);
    if (!summary) {
      refuse(path, summary.error());
      return std::nullopt;
    }
    note(path, summary->skipped);
    return std::move(summary->averages);
  }
  const auto events = import_trace(path);
  if (!events) return std::nullopt;
  return events->key_averages(options);
}

}  // namespace weft::tools
