// SPDX-License-Identifier: Apache-2.0
#include "execution_graph_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

#include "json_text.h"

namespace weft::profile {
namespace {

// A number as JSON has it; text where it is none, such as infinity.
std::string json_scalar(const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(text.data(), end, integer);
      read.ec == std::errc() && read.ptr == end)
    return std::to_string(integer);
  double number = 0;
  if (const auto read = std::from_chars(text.data(), end, number);
      read.ec == std::errc() && read.ptr == end && std::isfinite(number))
    return fmt::format("{}", number);
  return json_string(text);
}

std::string json_shape(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + ']';
}

std::string json_shapes(const FunctionInput& input) {
  if (input.kind != FunctionInput::Kind::kArrayList)
    return json_shape(input.sizes);
  std::string text = "[";
  for (const Shape& shape : input.list_sizes) {
    if (text.size() > 1) text += ", ";
    text += json_shape(shape);
  }
  return text + ']';
}

// Of arrays only sizes and types are known: they have no identity.
std::string json_value(const FunctionInput& input) {
  switch (input.kind) {
    case FunctionInput::Kind::kScalar:
      return json_scalar(input.value);
    case FunctionInput::Kind::kScalarList:
      return json_string(input.value);
    default:
      return "null";
  }
}

}  // namespace

void GraphWriter::begin(const ExecutionGraphOptions& options) {
  out_ << "{\"schema\": \"1.0.2-chakra.0.0.4\", \"pid\": " << options.pid
       << ", \"time\": " << json_string(options.time)
       << ", \"start_ts\": " << options.start_ms << ",\n\"nodes\": [\n";
}

void GraphWriter::add(const GraphNode& node) {
  write_node(node);
  out_ << ",\n";
}

void GraphWriter::end(std::int64_t finish_ms) {
  GraphNode root;
  root.name = "[pytorch|profiler|execution_trace|process]";
  root.scope = RecordScope::kUserScope;
  write_node(root);
  out_ << "\n],\n\"finish_ts\": " << finish_ms << "}\n";
}

void GraphWriter::write_node(const GraphNode& node) {
  out_ << "{\"id\": " << node.number << ", \"name\": " << json_string(node.name)
       << ", \"ctrl_deps\": " << node.parent << ", \"inputs\": ";
  write_values(node.inputs);
  out_ << ", \"outputs\": ";
  write_values(node.outputs);
  out_ << ", \"attrs\": [";
  const char* separator = "";
  const auto attribute = [&](std::string_view name, std::string_view type,
                             const std::string& value) {
    out_ << separator << "{\"name\": \"" << name << "\", \"type\": \"" << type
         << "\", \"value\": " << value << '}';
    separator = ", ";
  };
  attribute("rf_id", "uint64", std::to_string(node.handle));
  attribute("fw_parent", "uint64", "0");
  attribute("seq_id", "int64",
            std::to_string(std::max<std::int64_t>(node.sequence_nr, -1)));
  attribute("scope", "uint64", std::to_string(static_cast<int>(node.scope)));
  attribute("tid", "uint64", std::to_string(node.thread));
  attribute("fw_tid", "uint64", std::to_string(node.forward_thread));
  for (const char* name : {"op_schema", "kernel_backend", "kernel_file"})
    attribute(name, "string", "\"\"");
  out_ << "]}";
}

void GraphWriter::write_values(const std::vector<FunctionInput>& values) {
  const std::size_t count = std::min(values.size(), kMostGraphElements);
  cut_ += values.size() > count ? 1 : 0;
  const auto list = [&](const char* key, const auto& text_of) {
    out_ << '"' << key << "\": [";
    for (std::size_t i = 0; i < count; ++i)
      out_ << (i == 0 ? "" : ", ") << text_of(values[i]);
    out_ << ']';
  };
  out_ << '{';
  list("values", json_value);
  out_ << ", ";
  list("shapes", json_shapes);
  out_ << ", ";
  list("types", [](const FunctionInput& input) {
    return json_string(input.type_name());
  });
  out_ << ", ";
  list("strides", [](const FunctionInput&) { return "[]"; });
  out_ << '}';
}

}  // namespace weft::profile
