// SPDX-License-Identifier: Apache-2.0
#include "chrome_event_source.h"

#include <fmt/format.h>

#include <string_view>

namespace weft::profile {
namespace {

using Next = ChromeEventSplitter::Next;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// The last comma between two objects, or npos. Whether they are elements of
// the list the parser will tell.
std::size_t last_event_end(std::string_view text) {
  for (std::size_t comma = text.rfind(',');
       comma != std::string_view::npos && comma > 0;
       comma = text.rfind(',', comma - 1)) {
    std::size_t before = comma;
    while (before > 0 && is_space(text[before - 1])) --before;
    std::size_t after = comma + 1;
    while (after < text.size() && is_space(text[after])) ++after;
    if (before > 0 && text[before - 1] == '}' && after < text.size() &&
        text[after] == '{') {
      return comma;
    }
  }
  return std::string_view::npos;
}

class Source {
 public:
  Source(InflatingReader& reader, const ChromeImportOptions& limits,
         ChromeEventSink& sink)
      : reader_(reader),
        limits_(limits),
        sink_(sink),
        splitter_(reader, limits.max_event_bytes) {}

  Result<ChromeSourceReport> run() {
    const Result<bool> found = splitter_.find_list();
    if (!found.ok()) return found.error();
    if (*found) {
      const Result<void> read = read_events();
      if (!read.ok()) return read.error();
    } else if (splitter_.form() == ChromeListForm::kEmpty) {
      report_.skipped.emplace_back("the file is empty");
    }
    report_.form = splitter_.form();
    report_.members = splitter_.members();
    while (reader_.window().size > 0) reader_.consume(reader_.window().size);
    report_.inflated_bytes = reader_.offset();
    if (!reader_.problem().empty()) {
      report_.skipped.push_back(reader_.problem());
    }
    if (report_.others > 0) {
      report_.skipped.push_back(
          fmt::format("{} elements that are no objects", report_.others));
    }
    return std::move(report_);
  }

 private:
  Result<void> read_events() {
    for (;;) {
      const Next next = splitter_.peek();
      if (next == Next::kEnd || next == Next::kCut) return finish(next);
      if (next == Next::kObject && reader_.offset() >= single_until_ &&
          splitter_.form() != ChromeListForm::kLines && read_batch()) {
        if (report_.entries > limits_.max_events) return too_many();
        continue;
      }
      if (report_.entries == limits_.max_events) return too_many();
      const Result<Next> read = splitter_.read();
      if (!read.ok()) return read.error();
      if (*read == Next::kCut) return finish(*read);
      ++report_.entries;
      if (*read == Next::kOther) {
        ++report_.others;
        continue;
      }
      const auto parsed = parser_.parse(splitter_.text(), sink_);
      repaired_ = repaired_ || parsed == ChromeEventParser::Parsed::kWithoutCommas;
      if (parsed == ChromeEventParser::Parsed::kNot) {
        --report_.entries;
        report_.state = ChromeListState::kBroken;
        report_.broken_offset = splitter_.offset();
        report_.skipped.push_back(fmt::format(
            "the event at byte {} is broken; nothing after it was read",
            splitter_.offset()));
        return {};
      }
    }
  }

  // Parses what the window has as one list: the byte before it and the last
  // comma become its brackets. False if not even one event was read.
  bool read_batch() {
    const InflatingReader::Window window = reader_.window();
    const std::uint64_t offset = reader_.offset();
    const std::size_t comma =
        last_event_end({window.data, window.size});
    if (comma == std::string_view::npos) {
      single_until_ = offset + window.size;
      return false;
    }
    const char before = window.data[-1];
    window.data[-1] = '[';
    window.data[comma] = ']';
    const ChromeEventParser::Batch batch =
        parser_.parse_list(window.data - 1, comma + 2, sink_);
    window.data[-1] = before;
    window.data[comma] = ',';
    report_.entries += batch.events;
    const std::size_t used = batch.bytes - 1;
    if (used != comma) single_until_ = offset + comma;
    if (batch.events == 0) return false;
    reader_.consume(used);
    splitter_.passed(false);
    return true;
  }

  Result<void> finish(Next how) {
    report_.state = splitter_.odd_commas() || repaired_
                        ? ChromeListState::kRepaired
                        : ChromeListState::kSound;
    if (how == Next::kEnd) {
      splitter_.read_rest();
      return {};
    }
    report_.broken_offset = splitter_.offset();
    report_.state = splitter_.cut_inside() ? ChromeListState::kBroken
                                           : ChromeListState::kUnterminated;
    report_.skipped.push_back(
        fmt::format("the list breaks off at byte {}", splitter_.offset()));
    return {};
  }

  Error too_many() const {
    return {ErrorCode::kLimit,
            fmt::format("more than {} events, the limit", limits_.max_events)};
  }

  InflatingReader& reader_;
  const ChromeImportOptions& limits_;
  ChromeEventSink& sink_;
  ChromeEventSplitter splitter_;
  ChromeEventParser parser_;
  ChromeSourceReport report_;
  std::uint64_t single_until_ = 0;  // event by event up to here
  bool repaired_ = false;
};

}  // namespace

Result<ChromeSourceReport> read_chrome_events(InflatingReader& reader,
                                              const ChromeImportOptions& limits,
                                              ChromeEventSink& sink) {
  return Source(reader, limits, sink).run();
}

Error no_chrome_list(const std::string& path) {
  return {ErrorCode::kUnsupported,
          path +
              ": no list of trace events: a Chrome trace begins with [ or has "
              "the member \"traceEvents\", this file is an object without it"};
}

}  // namespace weft::profile
