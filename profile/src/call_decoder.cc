// SPDX-License-Identifier: Apache-2.0
#include "call_decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "coverage_marks.h"
#include "memory_record.h"
#include "weft/call_record.h"
#include "weft/internal/definitions.h"
#include "weft/profile/function_input.h"

namespace weft::profile {

using exporters::DecodedRecord;
using exporters::DecodedValue;

namespace {

constexpr std::uint8_t kNoPlace = 0xff;

std::int64_t signed_bits(const DecodedValue& value) {
  return static_cast<std::int64_t>(value.bits);
}

std::uint8_t place_of(std::string_view key) {
  for (std::size_t i = 0; i < kCallArguments; ++i)
    if (key == kCallArgumentKeys[i].key) return static_cast<std::uint8_t>(i);
  return kNoPlace;
}

}  // namespace

Definitions definitions_of_this_process() {
  return {[](StringId number) { return internal::text_of(number); },
          [](SiteId number, SiteInfo* info) {
            return internal::describe_site(number, info);
          }};
}

CallDecoder::CallDecoder(Definitions definitions,
                         const ProfilerOptions& options, std::int64_t node_id)
    : definitions_(std::move(definitions)),
      options_(options),
      node_id_(node_id) {}

CallDecoder::Site CallDecoder::describe(SiteId number) const {
  Site site;
  site.meaning = Meaning::kNothing;
  SiteInfo info;
  if (!definitions_.site(number, &info)) return site;
  site.name = info.name;
  const std::string_view category = definitions_.text(info.category);
  const std::string_view name = definitions_.text(info.name);
  if (info.kind == SiteKind::kSpan || info.kind == SiteKind::kAsyncSpan) {
    site.meaning =
        category == kModuleCategory ? Meaning::kModule : Meaning::kCall;
  } else if (category == kMemoryCategory) {
    site.meaning = name == kAllocName         ? Meaning::kAlloc
                   : name == kFreeName        ? Meaning::kFree
                   : name == kOutOfMemoryName ? Meaning::kOutOfMemory
                                              : Meaning::kNothing;
  } else if (category == kBackendCategory) {
    site.meaning = Meaning::kBackend;
  }
  for (std::size_t i = 0; i < kRecordScopes; ++i) {
    const auto scope = static_cast<RecordScope>(i);
    if (category != category_of(scope)) continue;
    site.scope = scope;
    site.is_call = true;
  }
  for (std::uint8_t i = 0; i < info.argument_count; ++i)
    site.places.push_back(place_of(definitions_.text(info.arguments[i].key)));
  return site;
}

const CallDecoder::Site& CallDecoder::site_of(SiteId number) {
  const auto i = static_cast<std::size_t>(number);
  if (i >= sites_.size()) sites_.resize(i + 1);
  if (sites_[i].meaning == Meaning::kUnknown) sites_[i] = describe(number);
  return sites_[i];
}

CallDecoder::Line& CallDecoder::line_of(ThreadIndex thread,
                                        std::uint64_t position) {
  return lines_[static_cast<std::uint64_t>(thread) << 1 |
                ((position & kSidePosition) != 0 ? 1 : 0)];
}

void CallDecoder::add(const DecodedRecord& record, std::int64_t ns) {
  switch (record.kind) {
    case RecordKind::kSpanBegin:
      return begin(record, ns);
    case RecordKind::kSpanEnd:
      return end(record, ns);
    case RecordKind::kAsyncBegin:
      return begin_async(record, ns);
    case RecordKind::kAsyncEnd:
      return end_async(record, ns);
    case RecordKind::kInstant:
      return instant(record, ns);
    case RecordKind::kLaunch:
      return launch(record, ns);
    default:
      return;
  }
}

std::string CallDecoder::name_of(const DecodedRecord& record,
                                 const Site& site) const {
  return std::string(definitions_.text(
      record.name != StringId::kNone ? record.name : site.name));
}

RawEvent& CallDecoder::add_event(const DecodedRecord& record, const Site& site,
                                 std::int64_t ns) {
  RawEvent& event = calls_.events.emplace_back();
  event.name = name_of(record, site);
  event.start_ns = ns;
  event.end_ns = ns;
  event.id = next_id_++;
  event.thread = static_cast<std::int64_t>(record.thread);
  event.scope = site.scope;
  event.node_id = node_id_;
  event.finished = false;
  if (options_.with_flops) event.flops.reset();
  return event;
}

void CallDecoder::begin(const DecodedRecord& record, std::int64_t ns) {
  const Site& site = site_of(record.site);
  Line& line = line_of(record.thread, record.position);
  if (site.meaning == Meaning::kModule) {
    line.open.push_back({record.position, kModuleSpan});
    line.modules.push_back(name_of(record, site));
    return;
  }
  RawEvent& event = add_event(record, site, ns);
  if (!line.modules.empty()) event.facts.edit().modules = line.modules;
  read_call(record, site, event);
  const std::size_t number = calls_.events.size() - 1;
  if (!early_ends_.empty() &&
      take_early_end(async_id(record.thread, record.position), number))
    return;
  line.open.push_back({record.position, number});
}

void CallDecoder::begin_async(const DecodedRecord& record, std::int64_t ns) {
  const Site& site = site_of(record.site);
  RawEvent& event = add_event(record, site, ns);
  event.is_async = true;
  read_call(record, site, event);
  const std::size_t number = calls_.events.size() - 1;
  if (!take_early_end(record.target, number))
    open_async_[record.target] = number;
}

bool CallDecoder::take_early_end(std::uint64_t id, std::size_t event) {
  const auto early = early_ends_.find(id);
  if (early == early_ends_.end()) return false;
  finish(event, early->second.ns, early->second.thread);
  early_ends_.erase(early);
  return true;
}

void CallDecoder::finish(std::size_t event, std::int64_t ns,
                         ThreadIndex thread) {
  RawEvent& ended = calls_.events[event];
  ended.end_ns = ns;
  ended.end_thread = static_cast<std::int64_t>(thread);
  ended.finished = true;
}

void CallDecoder::end(const DecodedRecord& record, std::int64_t ns) {
  Line& line = line_of(record.thread, record.position);
  const auto open = std::find_if(
      line.open.rbegin(), line.open.rend(),
      [&](const Open& span) { return span.position == record.target; });
  if (open == line.open.rend()) {
    ++calls_.started_before;
    return;
  }
  if (open->event == kModuleSpan) {
    if (!line.modules.empty()) line.modules.pop_back();
  } else {
    finish(open->event, ns, record.thread);
  }
  line.open.erase(std::next(open).base());
}

void CallDecoder::end_async(const DecodedRecord& record, std::int64_t ns) {
  if (const auto async = open_async_.find(record.target);
      async != open_async_.end()) {
    finish(async->second, ns, record.thread);
    open_async_.erase(async);
    return;
  }
  // A span of one thread that another one ended.
  const auto owner =
      static_cast<ThreadIndex>(record.target >> (kAsyncPositionBits + 1));
  for (const std::uint64_t side : {std::uint64_t{0}, kSidePosition}) {
    Line& line = line_of(owner, side);
    const auto open = std::find_if(
        line.open.rbegin(), line.open.rend(), [&](const Open& span) {
          return async_id(owner, span.position) == record.target;
        });
    if (open == line.open.rend()) continue;
    if (open->event != kModuleSpan) finish(open->event, ns, record.thread);
    line.open.erase(std::next(open).base());
    return;
  }
  early_ends_[record.target] = {ns, record.thread};
}

void CallDecoder::instant(const DecodedRecord& record, std::int64_t ns) {
  const Site& site = site_of(record.site);
  switch (site.meaning) {
    case Meaning::kAlloc:
    case Meaning::kFree:
    case Meaning::kOutOfMemory: {
      MemoryRecord& memory = calls_.memory.emplace_back();
      memory.at_ns = ns;
      memory.thread = static_cast<std::int64_t>(record.thread);
      memory.failed = site.meaning == Meaning::kOutOfMemory;
      read_memory_record(record, memory);
      if (site.meaning == Meaning::kFree)
        memory.bytes = memory.bytes == INT64_MIN ? INT64_MAX : -memory.bytes;
      return;
    }
    case Meaning::kBackend: {
      RawEvent& event = add_event(record, site, ns);
      event.finished = true;
      read_backend_record(record, event, definitions_.text);
      return;
    }
    default:
      return;
  }
}

void CallDecoder::launch(const DecodedRecord& record, std::int64_t ns) {
  const Line& line = line_of(record.thread, record.position);
  const auto open = std::find_if(
      line.open.rbegin(), line.open.rend(),
      [](const Open& span) { return span.event != kModuleSpan; });
  Launch launched;
  launched.correlation = record.target;
  launched.call = record.call;
  launched.ns = ns;
  launched.thread = static_cast<std::int64_t>(record.thread);
  if (open != line.open.rend()) launched.op = calls_.events[open->event].id;
  calls_.launches.push_back(launched);
}

void CallDecoder::read_call(const DecodedRecord& record, const Site& site,
                            RawEvent& event) {
  if (!site.is_call) return;
  for (std::uint32_t i = 0; i < record.value_count; ++i) {
    const DecodedValue& value = record.values[i];
    if (value.index >= site.places.size()) continue;
    const std::uint8_t place = site.places[value.index];
    if (place == kNoPlace || value.type != kCallArgumentKeys[place].type)
      continue;
    switch (static_cast<CallArgument>(place)) {
      case CallArgument::kInputs:
        read_inputs(value, event);
        break;
      case CallArgument::kSequence:
        event.sequence_nr = signed_bits(value);
        break;
      case CallArgument::kForwardThread:
        event.fwd_thread = signed_bits(value);
        break;
      case CallArgument::kStack:
        if (options_.with_stack)
          event.stack = stack_of(static_cast<StringId>(value.bits));
        break;
      case CallArgument::kHandle:
        event.facts.edit().handle = value.bits;
        break;
      case CallArgument::kArgs:
        event.facts.edit().args = value.text;
        if (options_.record_shapes) event.input_shapes.emplace_back();
        break;
      case CallArgument::kDebugHandle:
        event.facts.edit().debug_handle = signed_bits(value);
        break;
    }
  }
  if (event.sequence_nr < 0) event.fwd_thread = 0;
}

const SharedList<std::string>& CallDecoder::stack_of(StringId number) {
  const auto [stack, is_new] = stacks_.try_emplace(number);
  if (is_new)
    stack->second =
        symbolizer_.frames(definitions_.text(number), definitions_.text);
  return stack->second;
}

void CallDecoder::read_inputs(const DecodedValue& value, RawEvent& event) {
  // Another session may have wanted them.
  if (!options_.record_shapes) return;
  const ParsedInputs parsed = parse_inputs(
      value.text, value.text_length > value.text.size() ? InputText::kCut
                                                        : InputText::kWhole);
  if (!parsed.complete) ++calls_.incomplete_inputs;
  event.input_shapes = shapes_of(parsed.inputs);
  for (const FunctionInput& input : parsed.inputs) {
    event.facts.edit().input_types.push_back(input.type_name());
    event.facts.edit().concrete_inputs.push_back(input.value);
  }
  if (options_.with_flops && parsed.complete)
    event.flops =
        options_.formulas.estimate(event.name, op_inputs_of(parsed.inputs));
}

void CallDecoder::close(std::int64_t ns) {
  const auto cut = [&](std::size_t number) {
    calls_.events[number].end_ns = ns;
    ++calls_.unfinished;
  };
  for (const auto& [key, line] : lines_)
    for (const Open& open : line.open)
      if (open.event != kModuleSpan) cut(open.event);
  for (const auto& [async, number] : open_async_) cut(number);
  lines_.clear();
  open_async_.clear();
  calls_.started_before += early_ends_.size();
  early_ends_.clear();
}

}  // namespace weft::profile
