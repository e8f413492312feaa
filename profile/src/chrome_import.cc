// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/chrome_import.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "chrome_event.h"
#include "chrome_event_splitter.h"
#include "chrome_rows.h"
#include "inflating_reader.h"

namespace weft {
namespace {

using profile::ChromeEvent;
using profile::ChromeEventParser;
using profile::ChromeEventSplitter;
using profile::ChromeRows;
using profile::InflatingReader;

class Importer {
 public:
  Importer(InflatingReader& reader, const ChromeImportOptions& options)
      : reader_(reader),
        options_(options),
        splitter_(reader, options.max_event_bytes) {}

  Result<ChromeImport> import() {
    const Result<bool> found = splitter_.find_list();
    if (!found.ok()) return found.error();
    std::string broken = "the file is empty";
    if (*found) {
      Result<std::string> read = read_events();
      if (!read.ok()) return read.error();
      broken = *std::move(read);
    }
    ChromeImport import = rows_.finish();
    if (!broken.empty()) import.skipped.push_back(std::move(broken));
    if (!reader_.problem().empty()) import.skipped.push_back(reader_.problem());
    if (others_ > 0) {
      import.skipped.push_back(
          fmt::format("{} elements that are no objects", others_));
    }
    return import;
  }

 private:
  // Why the list ended before its end; empty if it did not.
  Result<std::string> read_events() {
    for (std::uint64_t count = 0;; ++count) {
      const Result<ChromeEventSplitter::Next> next = splitter_.next();
      if (!next.ok()) return next.error();
      if (*next == ChromeEventSplitter::Next::kEnd) return std::string();
      if (*next == ChromeEventSplitter::Next::kCut) {
        return fmt::format("the list breaks off at byte {}",
                           splitter_.offset());
      }
      if (count == options_.max_events) {
        return Error{
            ErrorCode::kLimit,
            fmt::format("more than {} events, the limit", options_.max_events)};
      }
      if (*next == ChromeEventSplitter::Next::kOther) {
        ++others_;
        continue;
      }
      std::optional<ChromeEvent> event = parser_.parse(splitter_.text());
      if (!event) {
        return fmt::format(
            "the event at byte {} is broken; nothing after it was read",
            splitter_.offset());
      }
      rows_.add(*std::move(event));
    }
  }

  InflatingReader& reader_;
  const ChromeImportOptions& options_;
  ChromeEventSplitter splitter_;
  ChromeEventParser parser_;
  ChromeRows rows_;
  std::uint64_t others_ = 0;
};

}  // namespace

Result<ChromeImport> import_chrome_trace(const std::string& path,
                                         const ChromeImportOptions& options) {
  Result<InflatingReader> reader = InflatingReader::open(path);
  if (!reader.ok()) return reader.error();
  Result<ChromeImport> import = Importer(*reader, options).import();
  if (!import.ok()) {
    return Error{import.error().code, path + ": " + import.error().message};
  }
  return import;
}

}  // namespace weft
