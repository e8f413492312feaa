// SPDX-License-Identifier: Apache-2.0
#include "golden_input.h"

#include <cmath>
#include <stdexcept>

namespace weft::golden {
namespace {

std::optional<std::size_t> width(Json options, std::string_view key,
                                 std::optional<std::size_t> missing) {
  Json value;
  if (options.at_key(key).get(value) != simdjson::SUCCESS) return missing;
  if (value.is_null()) return std::nullopt;
  return static_cast<std::size_t>(std::int64_t(value));
}

double number(Json object, std::string_view key, double missing) {
  const auto value = member(object, key);
  return value ? double(*value) : missing;
}

bool flag(Json object, std::string_view key) {
  const auto value = member(object, key);
  return value && bool(*value);
}

DeviceType device(Json object) {
  const std::string name = text(object, "device", "cpu");
  if (name == "cpu") return DeviceType::kCpu;
  if (name == "cuda") return DeviceType::kCuda;
  if (name == "hip") return DeviceType::kHip;
  if (name == "mkldnn") return DeviceType::kMkldnn;
  if (name == "ideep") return DeviceType::kIdeep;
  if (name == "privateuse1") return DeviceType::kCustom;
  throw std::runtime_error("device " + name);
}

std::vector<std::string> texts(Json object, std::string_view key) {
  std::vector<std::string> result;
  const auto list = member(object, key);
  if (!list) return result;
  for (Json item : simdjson::dom::array(*list)) {
    result.emplace_back(std::string_view(item));
  }
  return result;
}

std::vector<Shape> shapes(Json object) {
  std::vector<Shape> result;
  const auto list = member(object, "shapes");
  if (!list) return result;
  for (Json item : simdjson::dom::array(*list)) {
    Shape& shape = result.emplace_back();
    for (Json size : simdjson::dom::array(item)) {
      shape.push_back(std::int64_t(size));
    }
  }
  return result;
}

std::optional<std::int64_t> elapsed(Json object, std::string_view key) {
  const double us = number(object, key, -1);
  if (us < 0) return std::nullopt;
  return to_ns(us);
}

Json overlay(Json file, Json call, std::string_view key, bool& found) {
  for (Json source : {call, file}) {
    Json session;
    Json value;
    if (source.at_key("session").get(session) == simdjson::SUCCESS &&
        session.at_key(key).get(value) == simdjson::SUCCESS) {
      found = !value.is_null();
      return value;
    }
  }
  found = false;
  return call;
}

}  // namespace

std::filesystem::path golden_folder() {
  const char* set = std::getenv("WEFT_TEST_GOLDEN");
  return std::filesystem::path(set != nullptr ? set : WEFT_TEST_GOLDEN) /
         "profiler";
}

std::int64_t to_ns(double us) { return std::llround(us * 1000); }

std::optional<Json> member(Json object, std::string_view key) {
  Json value;
  if (object.at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  if (value.is_null()) return std::nullopt;
  return value;
}

std::int64_t integer(Json object, std::string_view key, std::int64_t missing) {
  const auto value = member(object, key);
  return value ? std::int64_t(*value) : missing;
}

std::string text(Json object, std::string_view key, std::string missing) {
  const auto value = member(object, key);
  return value ? std::string(std::string_view(*value)) : missing;
}

Session read_session(Json file, Json call) {
  Session session;
  bool found = false;
  const auto on = [&](std::string_view key, bool missing) {
    const Json value = overlay(file, call, key, found);
    return found ? bool(value) : missing;
  };
  session.list.profile_memory = on("profile_memory", false);
  session.list.with_flops = on("with_flops", false);
  session.list.build_tree = on("build_tree", true);
  const Json device_name = overlay(file, call, "use_device", found);
  if (found) session.list.device_name = std::string_view(device_name);
  const Json start = overlay(file, call, "trace_start_us", found);
  if (found) session.trace_start_ns = to_ns(double(start));
  return session;
}

std::vector<Json> selected(Json file, Json call) {
  const simdjson::dom::array input = file["input"];
  std::vector<Json> all;
  for (Json element : input) all.push_back(element);
  const auto select = member(call, "select");
  if (!select) return all;
  std::vector<Json> chosen;
  for (Json index : simdjson::dom::array(*select)) {
    chosen.push_back(all.at(std::size_t(std::uint64_t(index))));
  }
  return chosen;
}

FunctionEvent read_event(Json element, std::size_t position,
                         const Session& session) {
  FunctionEvent event;
  event.id = integer(element, "id", static_cast<std::int64_t>(position) + 1);
  event.name = text(element, "name");
  event.trace_name = text(element, "trace_name", event.name);
  event.start_ns = to_ns(number(element, "start_us", 0));
  event.end_ns = to_ns(number(element, "end_us", 0));
  event.thread = integer(element, "thread", 1);
  event.fwd_thread = integer(element, "fwd_thread", 0);
  event.device = device(element);
  event.device_index = static_cast<int>(integer(element, "device_index", 0));
  event.node_id = integer(element, "node_id", -1);
  event.scope = static_cast<RecordScope>(integer(element, "scope", 0));
  event.sequence_nr = integer(element, "sequence_nr", -1);
  event.is_async = flag(element, "async");
  event.is_remote = flag(element, "remote");
  event.is_legacy = flag(element, "legacy");
  event.input_shapes = shapes(element);
  event.stack = texts(element, "stack");
  event.flops = static_cast<std::uint64_t>(integer(element, "flops", 0));
  event.memory.cpu_bytes = integer(element, "cpu_memory", 0);
  event.memory.device_bytes[DeviceFamily::kCuda] =
      integer(element, "cuda_memory", 0);
  event.memory.device_bytes[DeviceFamily::kCustom] =
      integer(element, "custom_memory", 0);
  if (const auto kernels = member(element, "kernels")) {
    for (Json kernel : simdjson::dom::array(*kernels)) {
      event.kernels.push_back(
          {text(kernel, "name"),
           session.list.device_name.empty() ? DeviceType::kCuda
                                            : DeviceType::kCustom,
           static_cast<int>(integer(kernel, "device_index", 0)), 0,
           to_ns(number(kernel, "duration_us", 0)), std::nullopt});
    }
  }
  return event;
}

RawEvent read_raw_event(Json element) {
  RawEvent event;
  event.name = text(element, "name");
  event.start_ns = to_ns(number(element, "start_us", 0));
  event.end_ns = to_ns(number(element, "end_us", 0));
  event.id = integer(element, "id", 0);
  event.linked_op = integer(element, "linked_id", 0);
  event.thread = integer(element, "thread", 1);
  event.end_thread = integer(element, "end_thread", event.thread);
  event.fwd_thread = integer(element, "fwd_thread", 0);
  event.device = device(element);
  event.device_index = static_cast<int>(integer(element, "device_index", 0));
  event.scope = static_cast<RecordScope>(integer(element, "scope", 0));
  event.sequence_nr = integer(element, "sequence_nr", -1);
  event.is_async = flag(element, "async");
  event.input_shapes = shapes(element);
  event.stack = texts(element, "stack");
  event.flops = static_cast<std::uint64_t>(integer(element, "flops", 0));
  event.bytes = integer(element, "nbytes", 0);
  event.cuda_elapsed_ns = elapsed(element, "cuda_elapsed_us");
  event.custom_elapsed_ns = elapsed(element, "custom_elapsed_us");
  return event;
}

RecordLists read_record_lists(Json element) {
  RecordLists lists;
  for (Json list : simdjson::dom::array(element["lists"])) {
    auto& records = lists.emplace_back();
    for (Json item : simdjson::dom::array(list)) {
      ListRecord& record = records.emplace_back();
      const std::string kind = text(item, "kind");
      record.kind = kind == "push"   ? ListRecord::Kind::kPush
                    : kind == "pop"  ? ListRecord::Kind::kPop
                    : kind == "mark" ? ListRecord::Kind::kMark
                                     : ListRecord::Kind::kMemory;
      record.name = text(item, "name");
      record.thread = integer(item, "thread", 1);
      record.handle = integer(item, "handle", 0);
      record.node_id = integer(item, "node_id", -1);
      record.cpu_ns = to_ns(number(item, "cpu_us", 0));
      if (const auto us = member(item, "device_us")) {
        record.device_ns = to_ns(double(*us));
      }
      record.device_index = static_cast<int>(integer(item, "device_index", 0));
      record.cpu_bytes = integer(item, "cpu_bytes", 0);
      record.cuda_bytes = integer(item, "cuda_bytes", 0);
      record.is_async = flag(item, "async");
      record.is_remote = flag(item, "remote");
    }
  }
  return lists;
}

std::optional<TableOptions> read_table_options(Json call) {
  TableOptions table;
  const auto options = member(call, "options");
  if (!options) return table;
  if (member(*options, "sort_by")) {
    const auto key = parse_sort_key(text(*options, "sort_by"));
    if (!key.ok()) return std::nullopt;
    table.sort_by = *key;
  }
  table.row_limit = integer(*options, "row_limit", table.row_limit);
  table.max_name_column_width =
      width(*options, "max_name_column_width", table.max_name_column_width);
  table.max_src_column_width =
      width(*options, "max_src_column_width", table.max_src_column_width);
  table.max_shapes_column_width =
      width(*options, "max_shapes_column_width", table.max_shapes_column_width);
  if (member(*options, "header")) table.header = text(*options, "header");
  table.top_level_events_only = flag(*options, "top_level_events_only");
  return table;
}

KeyOptions read_key_options(Json call) {
  KeyOptions keys;
  const auto options = member(call, "options");
  if (!options) return keys;
  keys.group_by_input_shape = flag(*options, "group_by_input_shapes");
  keys.group_by_stack_n =
      static_cast<std::size_t>(integer(*options, "group_by_stack_n", 0));
  return keys;
}

EventList read_list(Json file, Json call, Rules rules) {
  Session session = read_session(file, call);
  session.list.rules = rules;
  const std::vector<Json> elements = selected(file, call);
  if (text(file, "kind") == "raw") {
    std::vector<RawEvent> raw;
    for (const Json element : elements) raw.push_back(read_raw_event(element));
    RawEventOptions options = reference_raw_event_options();
    options.trace_start_ns = session.trace_start_ns;
    return EventList(parse_raw_events(raw, session.list, options).events,
                     session.list);
  }
  std::vector<FunctionEvent> events;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    events.push_back(read_event(elements[i], i, session));
  }
  return EventList(std::move(events), session.list);
}

}  // namespace weft::golden
