// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/profiler.h"

#include <simdjson.h>

#include <utility>

#include "json_text.h"
#include "profiler_session.h"

namespace weft {

Profiler::Profiler(ProfilerOptions options)
    : session_(std::make_shared<ProfilerSession>(std::move(options))) {}

Result<Profiler> Profiler::create(ProfilerOptions options) {
  Profiler profiler(std::move(options));
  if (!profiler.session_->validated().ok())
    return profiler.session_->validated().error();
  return profiler;
}

Profiler::Profiler(Profiler&&) noexcept = default;
Profiler& Profiler::operator=(Profiler&&) noexcept = default;
Profiler::~Profiler() = default;

Result<void> Profiler::prepare() { return session_->prepare(); }
Result<void> Profiler::start() { return session_->start(); }
Result<void> Profiler::stop() { return session_->stop(); }
Result<void> Profiler::pause() {
  return session_->pause(session_->options().activities);
}
Result<void> Profiler::resume() {
  return session_->resume(session_->options().activities);
}
Result<void> Profiler::pause(const std::set<Activity>& activities) {
  return session_->pause(activities);
}
Result<void> Profiler::resume(const std::set<Activity>& activities) {
  return session_->resume(activities);
}

bool Profiler::running() const noexcept { return session_->running(); }

const ProfilerOptions& Profiler::config() const noexcept {
  return session_->options();
}

const std::vector<std::string>& Profiler::warnings() const noexcept {
  return session_->warnings();
}

Result<void> Profiler::add_metadata(std::string_view key,
                                    std::string_view text) {
  return session_->add_metadata(key, profile::json_string(text));
}

Result<void> Profiler::add_metadata_json(std::string_view key,
                                         std::string_view json) {
  const simdjson::padded_string padded(json);
  simdjson::dom::parser parser;
  if (const auto error = parser.parse(padded).error())
    return Error{ErrorCode::kInvalidArgument,
                 "metadata \"" + std::string(key) +
                     "\": " + simdjson::error_message(error)};
  return session_->add_metadata(key, std::string(json));
}

Result<std::shared_ptr<const ProfilerResult>> Profiler::result() const {
  return session_->result();
}

Result<EventList> Profiler::events() const {
  auto all = result();
  if (!all.ok()) return all.error();
  return (*all)->events();
}

Result<KeyAverages> Profiler::key_averages(const KeyOptions& options) const {
  auto all = result();
  if (!all.ok()) return all.error();
  return (*all)->events().key_averages(options);
}

Result<FunctionEventAvg> Profiler::total_average() const {
  auto all = result();
  if (!all.ok()) return all.error();
  return (*all)->events().total_average();
}

Result<std::int64_t> Profiler::self_cpu_time_total_ns() const {
  auto all = result();
  if (!all.ok()) return all.error();
  return (*all)->events().self_cpu_time_total_ns();
}

Result<std::string> Profiler::table(const TableOptions& options) const {
  auto all = result();
  if (!all.ok()) return all.error();
  return (*all)->events().table(options);
}

Result<void> Profiler::export_chrome_trace(const std::string& path) const {
  auto all = result();
  if (!all.ok()) return all.error();
  return (*all)->events().export_chrome_trace(path);
}

Result<void> Profiler::export_stacks(const std::string& path,
                                     const StackOptions& options) const {
  auto all = result();
  if (!all.ok()) return all.error();
  if (config().enabled && !config().with_stack)
    return Error{ErrorCode::kNotRecorded,
                 "stacks were not recorded: with_stack was not set"};
  return (*all)->events().export_stacks(path, options);
}

Result<void> Profiler::export_memory_timeline(
    const std::string& path, std::optional<MemoryDevice> device,
    const MemoryTimeline::CategoryOf& category_of) const {
  auto all = result();
  if (!all.ok()) return all.error();
  if (config().enabled && !config().profile_memory)
    return Error{ErrorCode::kNotRecorded,
                 "memory was not recorded: profile_memory was not set"};
  return MemoryTimeline::of_session((*all)->memory_records(), category_of)
      .export_memory_timeline(path, device);
}

Result<ProfilerStatistics> Profiler::statistics() const {
  auto all = result();
  if (!all.ok()) return all.error();
  return (*all)->statistics();
}

std::string Profiler::str() const {
  auto all = result();
  if (!all.ok()) return "<unfinished weft::Profiler>";
  TableOptions options;
  options.sort_by = SortKey::kSelfCpuTimeTotal;
  return (*all)->events().key_averages().table(options);
}

std::string Profiler::repr() const {
  auto all = result();
  if (!all.ok()) return "<unfinished weft::Profiler>";
  std::string text = "[";
  for (const FunctionEvent& event : (*all)->events()) {
    if (text.size() > 1) text += ",\n ";
    text += "<FunctionEvent id=" + std::to_string(event.id) +
            " name=" + event.name +
            " thread=" + std::to_string(event.thread) +
            " start_ns=" + std::to_string(event.start_ns) +
            " end_ns=" + std::to_string(event.end_ns) +
            " self_cpu_ns=" + std::to_string(event.self_cpu_time_total_ns) +
            " input_shapes=" + to_string(event.input_shapes) + ">";
  }
  return text + "]";
}

}  // namespace weft
