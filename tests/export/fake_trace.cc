// SPDX-License-Identifier: Apache-2.0
#include "fake_trace.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

#include "json_trace_check.h"

namespace weft::test {
namespace {

std::string temporary_path() {
  static int count = 0;
  return "fake_trace_" + std::to_string(getpid()) + "_" +
         std::to_string(count++) + ".json";
}

}  // namespace

FakeTrace::FakeTrace(Ticks start, Ticks stop) {
  info_.process.pid = 1234;
  info_.process.executable = "/opt/service/bin/service";
  info_.process.host = "host";
  info_.process.clock = "tsc";
  info_.process.tick_hz = 1e9;
  info_.subscription.name = "default";
  info_.subscription.start_tick = start;
  info_.end.stop_tick = stop;
  info_.end.reason = "stop";
  info_.complete = true;
  info_.strings.emplace_back();
  info_.sites.emplace_back();
  for (const Ticks tick : {start, stop}) {
    ClockAnchor anchor;
    anchor.tick.fill(tick);
    anchor.ns.fill(static_cast<std::int64_t>(tick));
    anchor.half_width.fill(5);
    info_.anchors.push_back(anchor);
  }
}

StringId FakeTrace::string(std::string_view text) {
  if (text.empty()) return StringId::kNone;
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<StringId>(info_.strings.size());
  info_.strings.emplace_back(text);
  ids_.emplace(text, id);
  return id;
}

SiteId FakeTrace::site(SiteKind kind, std::string_view name,
                       std::vector<std::string> keys) {
  SiteInfo site;
  site.number = static_cast<SiteId>(info_.sites.size());
  site.kind = kind;
  site.name = string(name);
  site.category = string("test");
  for (const std::string& key : keys)
    site.arguments[site.argument_count++].key = string(key);
  info_.sites.push_back(site);
  return site.number;
}

ThreadIndex FakeTrace::thread(std::string_view name, std::uint32_t tid,
                              bool unique) {
  ThreadInfo thread;
  thread.index = static_cast<ThreadIndex>(info_.threads.size() + 1);
  thread.tid = tid;
  thread.tid_is_unique = unique;
  thread.name = string(name);
  thread.start_tick = info_.subscription.start_tick;
  info_.threads.push_back(thread);
  return thread.index;
}

std::uint64_t FakeTrace::add(DecodedRecord record,
                             std::vector<DecodedValue> values) {
  std::uint64_t& position = positions_[record.thread];
  record.position = position;
  record.slots = static_cast<std::uint32_t>(1 + values.size());
  position += record.slots;
  record.value_count = static_cast<std::uint32_t>(values.size());
  if (record.kind == RecordKind::kAsyncBegin)
    record.target = async_id(record.thread, record.position);
  if (!std::exchange(drop_next_, false))
    records_.push_back({record, std::move(values)});
  return record.position;
}

std::uint64_t FakeTrace::begin(ThreadIndex thread, SiteId site, Ticks tick,
                               std::vector<DecodedValue> values,
                               StringId name) {
  DecodedRecord record;
  record.kind = RecordKind::kSpanBegin;
  record.thread = thread;
  record.site = site;
  record.tick = tick;
  record.name = name;
  return add(record, std::move(values));
}

void FakeTrace::end(ThreadIndex thread, SiteId site, Ticks tick,
                    std::uint64_t begun) {
  DecodedRecord record;
  record.kind = RecordKind::kSpanEnd;
  record.thread = thread;
  record.site = site;
  record.tick = tick;
  record.target = begun;
  add(record, {});
}

void FakeTrace::span(ThreadIndex thread, SiteId site, Ticks from, Ticks to) {
  end(thread, site, to, begin(thread, site, from));
}

void FakeTrace::instant(ThreadIndex thread, SiteId site, Ticks tick,
                        std::vector<DecodedValue> values) {
  DecodedRecord record;
  record.kind = RecordKind::kInstant;
  record.thread = thread;
  record.site = site;
  record.tick = tick;
  add(record, std::move(values));
}

void FakeTrace::counter(ThreadIndex thread, SiteId site, Ticks tick,
                        DecodedValue value) {
  DecodedRecord record;
  record.kind = RecordKind::kCounter;
  record.thread = thread;
  record.site = site;
  record.tick = tick;
  add(record, {value});
}

void FakeTrace::flow(RecordKind kind, ThreadIndex thread, SiteId site,
                     Ticks tick, std::uint64_t id) {
  DecodedRecord record;
  record.kind = kind;
  record.thread = thread;
  record.site = site;
  record.tick = tick;
  record.target = id;
  add(record, {});
}

std::uint64_t FakeTrace::async_begin(ThreadIndex thread, SiteId site,
                                     Ticks tick) {
  DecodedRecord record;
  record.kind = RecordKind::kAsyncBegin;
  record.thread = thread;
  record.site = site;
  record.tick = tick;
  return async_id(thread, add(record, {}));
}

void FakeTrace::async_end(ThreadIndex thread, SiteId site, Ticks tick,
                          std::uint64_t id) {
  DecodedRecord record;
  record.kind = RecordKind::kAsyncEnd;
  record.thread = thread;
  record.site = site;
  record.tick = tick;
  record.target = id;
  add(record, {});
}

void FakeTrace::argument(ThreadIndex thread, Ticks tick, std::uint64_t begun,
                         std::string_view key, DecodedValue value) {
  DecodedRecord record;
  record.kind = RecordKind::kArgument;
  record.thread = thread;
  record.tick = tick;
  record.target = begun;
  record.key = string(key);
  add(record, {value});
}

void FakeTrace::fail(ThreadIndex thread, Ticks tick, std::uint64_t begun,
                     std::string_view reason) {
  DecodedRecord record;
  record.kind = RecordKind::kFailure;
  record.thread = thread;
  record.tick = tick;
  record.target = begun;
  record.key = string(reason);
  add(record, {});
}

void FakeTrace::context(ThreadIndex thread, Ticks tick,
                        std::vector<std::uint64_t> words) {
  DecodedRecord record;
  record.kind = RecordKind::kContext;
  record.thread = thread;
  record.tick = tick;
  record.target = words.empty() ? 0 : words[0];
  std::vector<DecodedValue> values;
  for (const std::uint64_t word : words) values.push_back(natural(word));
  add(record, std::move(values));
}

void FakeTrace::lose(ThreadIndex thread, std::uint64_t records,
                     DropReason reason) {
  info_.losses.push_back({thread, positions_[thread], records, reason});
  info_.end.dropped[static_cast<std::size_t>(reason)] += records;
}

DecodedValue FakeTrace::integer(std::int64_t value, std::uint8_t index) {
  return {index, RecordKind::kInt64, static_cast<std::uint64_t>(value), {}, 0};
}

DecodedValue FakeTrace::natural(std::uint64_t value, std::uint8_t index) {
  return {index, RecordKind::kUint64, value, {}, 0};
}

DecodedValue FakeTrace::real(double value, std::uint8_t index) {
  return {index, RecordKind::kDouble, std::bit_cast<std::uint64_t>(value), {},
          0};
}

ClockLine FakeTrace::line() const {
  ClockLine line(info_.process.tick_hz);
  for (const ClockAnchor& anchor : info_.anchors) line.add(anchor);
  return line;
}

DecodedRecord FakeTrace::view(const Stored& stored) const {
  DecodedRecord record = stored.record;
  record.values = stored.values.data();
  return record;
}

std::string FakeTrace::json(Mode mode) const {
  const ClockLine clock_line = line();
  exporters::SpanFateFinder finder(info_);
  for (const Stored& stored : records_) finder.add(view(stored));
  const exporters::SpanFates fates = finder.finish();
  const std::string path = temporary_path();
  {
    auto output = exporters::JsonOutput::create(
        path, exporters::ExistingFile::kReplace);
    exporters::ChromeJsonWriter writer(
        info_, clock_line, mode == Mode::kLive ? nullptr : &fates);
    writer.start(output->get());
    for (const Stored& stored : records_) writer.write(view(stored));
    writer.finish();
    (void)(*output)->close();
  }
  std::string text = read_text(path);
  std::remove(path.c_str());
  return text;
}

std::vector<std::string> FakeTrace::json_parts(
    std::vector<std::size_t> cuts) const {
  const ClockLine clock_line = line();
  exporters::SpanFateFinder finder(info_);
  for (const Stored& stored : records_) finder.add(view(stored));
  const exporters::SpanFates fates = finder.finish();
  exporters::ChromeJsonWriter writer(info_, clock_line, &fates);
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<exporters::JsonOutput>> outputs;
  const auto next_output = [&] {
    paths.push_back(temporary_path());
    outputs.push_back(exporters::JsonOutput::create(
                          paths.back(), exporters::ExistingFile::kReplace)
                          .value());
    return outputs.back().get();
  };
  writer.start(next_output());
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (std::find(cuts.begin(), cuts.end(), i) != cuts.end())
      writer.cut(next_output());
    writer.write(view(records_[i]));
  }
  writer.finish();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    (void)outputs[i]->close();
    texts.push_back(read_text(paths[i]));
    std::remove(paths[i].c_str());
  }
  return texts;
}

}  // namespace weft::test
