// SPDX-License-Identifier: Apache-2.0
// Completes a file of ours that was cut. It relies on how ChromeJsonWriter
// writes: one event a line, with its members in a fixed order. Inside a string
// every quote stands behind a backslash, so `,"ph":"` is never part of one.

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chrome_json_output.h"
#include "json_text.h"
#include "weft/export/chrome_json.h"

namespace weft::exporters {
namespace {

// Names and texts are at most 64 KiB each, six times that with escapes, and an
// event has a few dozen at most.
constexpr std::size_t kMaxLineBytes = 64u << 20;
constexpr std::string_view kRepairedTail =
    "\n],\n\"weft\":{\"complete\":\"no\",\"repaired\":\"yes\"}}\n";

// Lines of a file, compressed or not, as far as it can be read.
class Lines {
 public:
  static Result<std::unique_ptr<Lines>> open(const std::string& path) {
    const gzFile file = gzopen(path.c_str(), "rbe");
    if (file == nullptr)
      return Error{ErrorCode::kIo, path + ": cannot be opened: " +
                                       std::strerror(errno)};
    return std::unique_ptr<Lines>(new Lines(file));
  }
  ~Lines() { gzclose(file_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // The next line without its end; false at the end of the file. `*whole` is
  // false if it has no end.
  bool next(std::string* line, bool* whole) {
    line->clear();
    for (;;) {
      const char* from = part_ + at_;
      const void* found = std::memchr(from, '\n', filled_ - at_);
      const std::size_t length =
          found != nullptr
              ? static_cast<std::size_t>(static_cast<const char*>(found) - from)
              : filled_ - at_;
      line->append(from, length);
      at_ += length;
      if (found != nullptr) {
        ++at_;
        *whole = true;
        return true;
      }
      const int read = line->size() < kMaxLineBytes
                           ? gzread(file_, part_, sizeof part_)
                           : 0;
      at_ = 0;
      filled_ = read > 0 ? static_cast<std::size_t>(read) : 0;
      if (filled_ == 0) {
        *whole = false;
        return !line->empty();
      }
    }
  }

 private:
  explicit Lines(gzFile file) : file_(file) {}

  gzFile file_;
  char part_[64 << 10];
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
};

// Whether `text` is one object with nothing behind it, as far as brackets and
// quotes say.
bool is_object(std::string_view text) {
  if (!text.starts_with("{\"name\":")) return false;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1 == text.size();
    }
  }
  return false;
}

// Takes the comma off; false if it is no whole event.
bool is_event(std::string* line) {
  if (line->ends_with(',')) line->pop_back();
  return is_object(*line);
}

constexpr std::string_view kPhase = ",\"ph\":\"";

char phase_of(std::string_view event) {
  const std::size_t at = event.find(kPhase);
  return at != event.npos ? event[at + kPhase.size()] : ' ';
}

// "12.345" microseconds at the front of `text`.
std::int64_t read_micros(std::string_view text) {
  std::int64_t ns = 0;
  for (const char c : text.substr(0, 20)) {
    if (c == '.') continue;
    if (c < '0' || c > '9') break;
    ns = ns * 10 + (c - '0');
    if (ns > std::int64_t{1} << 58) break;  // not ours
  }
  return ns;
}

// Follows the open spans of all tracks.
class OpenSpans {
 public:
  void see(std::string_view event) {
    constexpr std::string_view kIds = "\",\"pid\":", kTime = ",\"ts\":",
                               kDuration = ",\"dur\":";
    const std::size_t phase = event.find(kPhase);
    const std::size_t ids = event.find(kIds, phase);
    const std::size_t time = event.find(kTime, ids);
    if (phase == event.npos || ids == event.npos || time == event.npos) return;
    const char kind = event[phase + kPhase.size()];
    const std::string_view track = event.substr(ids, time - ids);
    std::int64_t ns = read_micros(event.substr(time + kTime.size()));
    if (kind == 'X') {
      const std::size_t duration = event.find(kDuration, time);
      if (duration != event.npos)
        ns += read_micros(event.substr(duration + kDuration.size()));
    }
    Track& known = track_of(track);
    known.last_ns = std::max(known.last_ns, ns);
    if (kind == 'B')
      known.open.push_back({std::string(event.substr(0, phase)),
                            event.find("\"clipped\":") != event.npos});
    if (kind == 'E' && !known.open.empty()) known.open.pop_back();
  }

  // Appends an event for each that is open, and returns how many.
  std::uint64_t close(JsonOutput* output) {
    std::uint64_t closed = 0;
    for (auto& [ids, track] : tracks_) {
      for (; !track.open.empty(); track.open.pop_back(), ++closed) {
        const Span& span = track.open.back();
        char micros[kNumberRoom];
        const char* end =
            write_micros(micros, static_cast<std::uint64_t>(++track.last_ns));
        output->append(",\n" + span.head + ",\"ph\":\"E" + ids + ",\"ts\":");
        output->append({micros, static_cast<std::size_t>(end - micros)});
        output->append(span.clipped ? "}" : ",\"args\":{\"clipped\":true}}");
      }
    }
    return closed;
  }

 private:
  struct Span {
    std::string head;
    bool clipped;
  };
  struct Track {
    std::vector<Span> open;
    std::int64_t last_ns = 0;
  };

  Track& track_of(std::string_view ids) {
    const auto found = tracks_.find(ids);
    return found != tracks_.end() ? found->second
                                  : tracks_[std::string(ids)];
  }

  std::map<std::string, Track, std::less<>> tracks_;  // by the text of its ids
};

bool are_one_file(const std::string& a, const std::string& b) {
  struct stat first{}, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

Error not_ours(const std::string& path, const char* what) {
  return Error{ErrorCode::kCorrupt, path + ": " + what};
}

}  // namespace

Result<JsonRepairReport> repair_json(const std::string& from,
                                     const std::string& to) {
  if (are_one_file(from, to))
    return Error{ErrorCode::kInvalidArgument,
                 to + ": is the file to be repaired; write to another"};
  auto lines = Lines::open(from);
  if (!lines) return lines.error();

  std::string line, head;
  bool whole = false;
  for (const std::string_view expected :
       {"{\"displayTimeUnit\":\"ns\",", "\"otherData\":{",
        "\"traceEvents\":["}) {
    if (!(*lines)->next(&line, &whole) || !whole)
      return not_ours(from, "is cut before its first event");
    if (!line.starts_with(expected))
      return not_ours(from, "is not a JSON trace that weft wrote");
    head += line + "\n";
  }
  if (!(*lines)->next(&line, &whole) || !is_event(&line))
    return not_ours(from, "is cut before its first event");

  auto created = JsonOutput::create(to, ExistingFile::kReplace);
  if (!created) return created.error();
  JsonOutput& output = **created;
  output.append(head);

  JsonRepairReport report;
  OpenSpans open;
  // An arrow or async span is written in one go, its begin first. What has no
  // end is half of an event.
  std::string halves;
  std::uint64_t half_events = 0;
  do {
    if (report.events + half_events > 0) halves += ",\n";
    halves += line;
    ++half_events;
    open.see(line);
    const char phase = phase_of(line);
    if (phase != 's' && phase != 't' && phase != 'b') {
      output.append(halves);
      halves.clear();
      report.events += std::exchange(half_events, 0);
    }
    line.clear();
  } while ((*lines)->next(&line, &whole) && is_event(&line));

  // Either the end of a complete file, whose last line is the "weft" object, or
  // of an event.
  std::string end = line;
  const bool events_ended = line == "]" && whole;
  if (events_ended) (*lines)->next(&end, &whole);
  report.was_complete = events_ended && whole && end.ends_with("}}");
  if (report.was_complete) {
    output.append("\n],\n" + end + "\n");
  } else {
    report.bytes_left_out = halves.size() + end.size();
    while ((*lines)->next(&line, &whole)) report.bytes_left_out += line.size();
    report.spans_closed = open.close(&output);
    output.append(kRepairedTail);
  }
  const auto closed = output.close();
  if (!closed) return closed.error();
  return report;
}

}  // namespace weft::exporters
