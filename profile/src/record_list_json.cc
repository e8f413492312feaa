// SPDX-License-Identifier: Apache-2.0
// Record lists on their way from one process to another.

#include <simdjson.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "json_text.h"
#include "weft/profile/record_list.h"

namespace weft {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using Kind = ListRecord::Kind;

enum Field : std::size_t {
  kKind,
  kName,
  kThread,
  kHandle,
  kNode,
  kCpuBytes,
  kCpuNs,
  kDeviceRecorded,
  kDeviceBytes,
  kDevice,
  kDeviceUs,
  kShapes,
  kFields
};

constexpr const char* kFieldNames[kFields] = {
    "kind",         "name",      "thread",    "handle",
    "node",         "cpu bytes", "cpu ns",    "device recorded",
    "device bytes", "device",    "device us", "shapes"};

std::string json_shapes(const std::vector<Shape>& shapes) {
  std::string text = "[";
  for (const Shape& shape : shapes) {
    text += text.size() > 1 ? ",[" : "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
    text += ']';
  }
  return text + ']';
}

// One record's fields; remembers the first that is wrong.
class RecordReader {
 public:
  RecordReader(std::size_t number, array fields) : number_(number) {
    std::size_t count = 0;
    for (const element field : fields) {
      if (count < kFields) fields_[count] = field;
      ++count;
    }
    if (count != kFields)
      problem_ = std::to_string(count) + " fields instead of " +
                 std::to_string(kFields);
  }

  // The reference has handles as doubles, so whole doubles are whole numbers.
  std::int64_t integer(Field field) {
    if (problem_) return 0;
    std::int64_t value = 0;
    if (fields_[field].get(value) == simdjson::SUCCESS) return value;
    const double whole = number(field);
    if (!problem_ && (whole != std::floor(whole) || std::abs(whole) >= 0x1p63))
      wrong(field, "is not a whole number");
    return problem_ ? 0 : static_cast<std::int64_t>(whole);
  }
  double number(Field field) {
    double value = 0;
    if (!problem_ && fields_[field].get(value) != simdjson::SUCCESS)
      wrong(field, "is not a number");
    return value;
  }
  // The reference has a number here.
  bool truth(Field field) {
    bool value = false;
    if (!problem_ && fields_[field].get(value) == simdjson::SUCCESS)
      return value;
    return integer(field) != 0;
  }
  std::string text(Field field) {
    std::string_view value;
    if (!problem_ && fields_[field].get(value) != simdjson::SUCCESS)
      wrong(field, "is not a text");
    return std::string(value);
  }
  std::vector<Shape> shapes(Field field) {
    std::vector<Shape> all;
    array outer;
    if (problem_) return all;
    if (fields_[field].get(outer) != simdjson::SUCCESS) {
      wrong(field, "is not a list");
      return all;
    }
    for (const element each : outer) {
      array sizes;
      if (each.get(sizes) != simdjson::SUCCESS) {
        wrong(field, "is not a list of lists");
        return all;
      }
      Shape& shape = all.emplace_back();
      for (const element size : sizes) {
        std::int64_t value = 0;
        if (size.get(value) != simdjson::SUCCESS)
          wrong(field, "has a size that is not a whole number");
        shape.push_back(value);
      }
    }
    return all;
  }

  void wrong(Field field, const std::string& what) {
    if (!problem_) problem_ = std::string(kFieldNames[field]) + ' ' + what;
  }
  std::optional<Error> error() const {
    if (!problem_) return std::nullopt;
    return Error{ErrorCode::kCorrupt,
                 "record " + std::to_string(number_) + ": " + *problem_};
  }

 private:
  const std::size_t number_;
  element fields_[kFields];
  std::optional<std::string> problem_;
};

ListRecord read_record(RecordReader& reader) {
  ListRecord record;
  const std::int64_t kind = reader.integer(kKind);
  if (kind < 0 || kind > static_cast<std::int64_t>(Kind::kMemory))
    reader.wrong(kKind, std::to_string(kind) + " is not in [0, 3]");
  record.kind = static_cast<Kind>(kind);
  record.name = reader.text(kName);
  record.thread = reader.integer(kThread);
  record.handle = reader.integer(kHandle);
  record.node_id = reader.integer(kNode);
  record.cpu_bytes = reader.integer(kCpuBytes);
  record.cpu_ns = reader.integer(kCpuNs);
  if (record.cpu_ns <= 0)
    reader.wrong(kCpuNs, std::to_string(record.cpu_ns) + " is not positive");
  const bool device = reader.truth(kDeviceRecorded);
  record.cuda_bytes = reader.integer(kDeviceBytes);
  const std::int64_t index = reader.integer(kDevice);
  const double us = reader.number(kDeviceUs);
  if (device) {
    if (index < 0 || index > INT32_MAX)
      reader.wrong(kDevice, std::to_string(index) + " is not a device");
    if (!(us >= 0 && us < 9e15))
      reader.wrong(kDeviceUs, std::to_string(us) + " is not a time");
    if (!reader.error()) {
      record.device_index = static_cast<int>(index);
      record.device_ns = std::llround(us * 1000);
    }
  }
  record.shapes = reader.shapes(kShapes);
  record.is_remote = true;
  return record;
}

}  // namespace

std::string serialize_records(const std::vector<ListRecord>& records) {
  std::string text = "[";
  for (const ListRecord& record : records) {
    text += text.size() > 1 ? ",\n[" : "\n[";
    text += std::to_string(static_cast<int>(record.kind)) + ',' +
            profile::json_string(record.name);
    for (const std::int64_t number :
         {record.thread, record.handle, record.node_id, record.cpu_bytes,
          record.cpu_ns})
      text += ',' + std::to_string(number);
    text += record.device_ns ? ",true," : ",false,";
    text += std::to_string(record.cuda_bytes) + ',' +
            std::to_string(record.device_ns ? record.device_index : -1) + ',' +
            profile::json_microseconds(record.device_ns.value_or(0)) + ',' +
            json_shapes(record.shapes) + ']';
  }
  return text + "\n]";
}

Result<std::vector<ListRecord>> deserialize_records(std::string_view json) {
  const simdjson::padded_string padded(json);
  simdjson::dom::parser parser;
  element document;
  if (const auto error = parser.parse(padded).get(document))
    return Error{ErrorCode::kCorrupt, std::string("records are not JSON: ") +
                                          simdjson::error_message(error)};
  array all;
  if (document.get(all) != simdjson::SUCCESS)
    return Error{ErrorCode::kCorrupt, "records are not a list"};
  std::vector<ListRecord> records;
  for (const element each : all) {
    array fields;
    if (each.get(fields) != simdjson::SUCCESS)
      return Error{
          ErrorCode::kCorrupt,
          "record " + std::to_string(records.size()) + ": is not a list"};
    RecordReader reader(records.size(), fields);
    ListRecord record = read_record(reader);
    if (const std::optional<Error> error = reader.error()) return *error;
    records.push_back(std::move(record));
  }
  return records;
}

void add_remote_records(RecordLists& lists, std::vector<ListRecord> remote) {
  for (ListRecord& record : remote) record.is_remote = true;
  lists.push_back(std::move(remote));
}

}  // namespace weft
