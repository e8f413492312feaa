// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/record_profile.h"

#include <ostream>
#include <utility>

#include "json_text.h"
#include "output_file.h"

namespace weft {
namespace {

using profile::json_microseconds;
using profile::json_string;

void write_slices(std::ostream& out, const EventList& events) {
  const char* separator = "";
  out << '[';
  for (const FunctionEvent& event : events) {
    if (!event.trace_name) continue;
    out << separator << "{\"name\": " << json_string(*event.trace_name)
        << ", \"ph\": \"X\", \"ts\": " << json_microseconds(event.start_ns)
        << ", \"dur\": " << json_microseconds(event.duration_ns())
        << ", \"tid\": " << event.thread
        << ", \"pid\": \"CPU Functions\", \"args\": {}}";
    separator = ", ";
  }
  out << "]\n";
}

}  // namespace

RecordProfile::RecordProfile(std::string path)
    : started_(profiler_.start()), path_(std::move(path)) {}

RecordProfile::RecordProfile(std::ostream& out)
    : started_(profiler_.start()), out_(&out) {}

RecordProfile::~RecordProfile() { (void)finish(); }

Result<void> RecordProfile::finish() {
  if (!started_.ok()) return started_;
  if (std::exchange(finished_, true))
    return Error{ErrorCode::kBusy, "this profile is finished already"};
  if (Result<void> stopped = profiler_.stop(); !stopped.ok()) return stopped;
  auto result = profiler_.result();
  if (!result.ok()) return result.error();
  const EventList& events = (*result)->events();
  if (out_ == nullptr)
    return profile::write_file(
        path_, [&](std::ostream& out) { write_slices(out, events); });
  write_slices(*out_, events);
  if (!*out_) return Error{ErrorCode::kIo, "the stream does not take it"};
  return {};
}

}  // namespace weft
