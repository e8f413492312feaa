// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string_view>
#include <utility>

#include "chrome_json_output.h"
#include "chrome_json_span_fates.h"
#include "chrome_json_writer.h"
#include "weft/export/chrome_json.h"

namespace weft::exporters {
namespace {

std::string hint_for(std::uint64_t text_bytes, std::uint64_t events) {
  if (text_bytes <= kViewerTextBytes && events <= kViewerEvents) return {};
  return std::to_string(text_bytes >> 20) + " MiB and " +
         std::to_string(events) + " events; viewers load up to " +
         std::to_string(kViewerTextBytes >> 20) + " MiB and " +
         std::to_string(kViewerEvents) + " events: split it by size or time";
}

// "dir/name.json.gz" and 7 make "dir/name.007.json.gz".
std::string part_path(std::string_view path, std::size_t part) {
  std::string_view stem = path, extension;
  for (const std::string_view known : {".json.gz", ".json", ".gz"}) {
    if (!path.ends_with(known)) continue;
    stem.remove_suffix(known.size());
    extension = known;
    break;
  }
  char number[24];
  std::snprintf(number, sizeof number, ".%03zu", part);
  return std::string(stem) + number + std::string(extension);
}

ClockLine line_of(const TraceInfo& info) {
  ClockLine line(info.process.tick_hz);
  for (const ClockAnchor& anchor : info.anchors) line.add(anchor);
  return line;
}

// The files of one conversion, one after the other.
class Parts {
 public:
  Parts(std::string path, const ChromeJsonOptions& options)
      : path_(std::move(path)),
        max_bytes_(options.max_bytes != 0
                       ? options.max_bytes
                       : std::numeric_limits<std::uint64_t>::max()),
        max_ns_(options.max_duration.count() != 0
                    ? options.max_duration.count()
                    : std::numeric_limits<std::int64_t>::max()),
        split_(options.max_bytes != 0 || options.max_duration.count() != 0) {}

  std::size_t count() const noexcept { return reports_.size(); }

  Result<std::unique_ptr<JsonOutput>> create(std::size_t part) const {
    return JsonOutput::create(split_ ? part_path(path_, part) : path_,
                              ExistingFile::kReplace);
  }

  bool is_full(const JsonOutput& output, const ChromeJsonWriter& writer) const {
    return output.text_bytes() + writer.closing_bytes() >= max_bytes_ ||
           writer.latest_ns() - from_ns_ >= max_ns_;
  }

  Result<void> close(JsonOutput& output, std::uint64_t events,
                     std::int64_t latest_ns) {
    if (const auto closed = output.close(); !closed) return closed.error();
    reports_.push_back({output.path(), events, output.text_bytes(),
                        output.file_bytes(),
                        hint_for(output.text_bytes(), events)});
    from_ns_ = latest_ns;
    return {};
  }

  std::vector<JsonFileReport> reports() && { return std::move(reports_); }

 private:
  std::string path_;
  std::uint64_t max_bytes_;
  std::int64_t max_ns_;
  bool split_;
  std::int64_t from_ns_ = 0;
  std::vector<JsonFileReport> reports_;
};

}  // namespace

Result<std::vector<JsonFileReport>> convert_to_chrome_json(
    TraceReader& reader, const std::string& path,
    const ChromeJsonOptions& options) {
  if (options.max_bytes != 0 &&
      options.max_bytes < ChromeJsonOptions::kMinFileBytes)
    return Error{ErrorCode::kInvalidArgument,
                 "max_bytes is " + std::to_string(options.max_bytes) +
                     ", the least is " +
                     std::to_string(ChromeJsonOptions::kMinFileBytes)};
  if (options.max_duration.count() < 0)
    return Error{ErrorCode::kInvalidArgument,
                 "max_duration is negative: " +
                     std::to_string(options.max_duration.count()) + " ns"};

  DecodedRecord record;
  SpanFateFinder finder(reader.info());
  reader.rewind();
  while (reader.next(&record)) finder.add(record);
  const SpanFates fates = finder.finish();

  const ClockLine line = line_of(reader.info());
  ChromeJsonWriter writer(reader.info(), line, &fates);
  Parts parts(path, options);
  auto output = parts.create(0);
  if (!output) return output.error();
  writer.start(output->get());

  reader.rewind();
  while (reader.next(&record)) {
    if (parts.is_full(**output, writer)) {
      auto next = parts.create(parts.count() + 1);
      if (!next) return next.error();
      const std::uint64_t events = writer.cut(next->get());
      const auto closed = parts.close(**output, events, writer.latest_ns());
      if (!closed) return closed.error();
      *output = std::move(*next);
    }
    writer.write(record);
  }
  const std::uint64_t events = writer.finish();
  const auto closed = parts.close(**output, events, writer.latest_ns());
  if (!closed) return closed.error();
  return std::move(parts).reports();
}

}  // namespace weft::exporters
