// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "choice.h"
#include "commands.h"
#include "json_writer.h"
#include "quantity_text.h"
#include "terminal.h"
#include "trace_file.h"
#include "weft/profile/captured_stack.h"
#include "weft/profile/symbolizer.h"

namespace weft::tools {
namespace {

enum class Format : std::uint8_t { kText, kJson };

struct SymbolizeOptions {
  std::string file;
  Format format = Format::kText;
  SymbolizerOptions symbols;
  bool no_lines = false;
};

struct StackCount {
  StringId stack = StringId::kNone;
  std::uint64_t records = 0;
};

// The stacks of a trace and how many records have each, most first.
std::vector<StackCount> count_stacks(exporters::TraceReader& reader) {
  const exporters::TraceInfo& info = reader.info();
  std::map<StringId, std::uint64_t> counts;
  Progress progress("reading");
  exporters::DecodedRecord record;
  while (reader.next(&record)) {
    progress.step([&] { return reader.progress(); });
    const SiteInfo& site = info.site(record.site);
    for (std::uint32_t i = 0; i < record.value_count; ++i) {
      const exporters::DecodedValue& value = record.values[i];
      if (value.type == RecordKind::kStringId &&
          value.index < site.argument_count &&
          info.text(site.arguments[value.index].key) == "stack")
        ++counts[static_cast<StringId>(value.bits)];
    }
  }
  std::vector<StackCount> stacks;
  for (const auto& [stack, records] : counts) stacks.push_back({stack, records});
  std::stable_sort(stacks.begin(), stacks.end(),
                   [](const StackCount& a, const StackCount& b) {
                     return a.records > b.records;
                   });
  return stacks;
}

std::string stacks_text(const std::vector<StackCount>& stacks,
                        const exporters::TraceInfo& info,
                        Symbolizer& symbolizer) {
  std::string text;
  for (const auto& [stack, records] : stacks) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", records,
                   records == 1 ? "record" : "records");
    for (const std::string& frame : symbolizer.frames(
             info.text(stack), [&](StringId id) { return info.text(id); }))
      fmt::format_to(std::back_inserter(text), "  {}\n", printable(frame));
  }
  return text;
}

void add_frame(JsonWriter& json, const ResolvedFrame& frame) {
  json.open_object();
  json.member("text", frame.text());
  if (!frame.function.empty()) json.member("function", frame.function);
  if (!frame.file.empty()) {
    json.member("file", frame.file);
    json.member("line", frame.line);
  }
  json.member("inlined", frame.inlined);
  json.close();
}

void add_frame(JsonWriter& json, const CapturedFrame& frame,
               const exporters::TraceInfo& info, Symbolizer& symbolizer) {
  const auto module = parse_loaded_module(info.text(frame.module));
  json.open_object();
  if (module) {
    json.member("module", module->path);
    json.member("build_id", module->build_id);
    json.member("load_base", fmt::format("{:#x}", module->load_base));
  }
  json.member("offset", fmt::format("{:#x}", frame.offset));
  json.open_array("functions");
  if (module)
    for (const ResolvedFrame& found : symbolizer.resolve(*module, frame.offset))
      add_frame(json, found);
  json.close();
  json.close();
}

std::string stacks_json(const std::vector<StackCount>& stacks,
                        const exporters::TraceInfo& info,
                        Symbolizer& symbolizer) {
  JsonWriter json;
  json.open_object();
  json.open_array("stacks");
  for (const auto& [stack, records] : stacks) {
    const auto captured = parse_captured_stack(info.text(stack));
    json.open_object();
    json.member("records", records);
    json.member("cut", captured && captured->cut);
    if (!captured) json.member("text", info.text(stack));
    json.open_array("frames");
    if (captured)
      for (const CapturedFrame& frame : captured->frames)
        add_frame(json, frame, info, symbolizer);
    json.close();
    json.close();
  }
  json.close();
  json.open_array("problems");
  for (const std::string& problem : symbolizer.problems())
    json.element(problem);
  json.close();
  json.close();
  return json.take();
}

ExitCode symbolize(SymbolizeOptions options) {
  auto reader = open_trace(options.file);
  if (!reader) return ExitCode::kUnusable;
  const std::vector<StackCount> stacks = count_stacks(*reader);
  remark(options.file, reader->info());
  options.symbols.source_lines = !options.no_lines;
  Symbolizer symbolizer(options.symbols);
  const std::string text =
      options.format == Format::kJson
          ? stacks_json(stacks, reader->info(), symbolizer)
          : stacks_text(stacks, reader->info(), symbolizer);
  if (stacks.empty())
    complain(options.file + ": has no stacks; record it with with_stack");
  for (const std::string& problem : symbolizer.problems()) complain(problem);
  return print(text);
}

}  // namespace

void add_symbolize(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<SymbolizeOptions>();
  CLI::App* const command = app.add_subcommand(
      "symbolize",
      "Shows the stacks of a .weft file with functions and source lines, innermost\n"
      "frame first. Files are used only if their build id is the recorded one; what\n"
      "cannot be found is shown as MODULE+OFFSET.");
  command->footer(
      "Examples:\n"
      "  weft symbolize service.weft\n"
      "  weft symbolize service.weft --debug-dir ./debug --root /mnt/server\n"
      "  weft symbolize service.weft --format json | jq '.stacks[0]'\n"
      "\n"
      "Exit codes: 0 done, also when names are missing; 2 wrong arguments, or FILE\n"
      "cannot be read.");
  command->add_option("FILE", options->file, "a .weft file")
      ->type_name("")
      ->required();
  command
      ->add_option("--debug-dir", options->symbols.debug_dirs,
                   "where debug files lie, as DIR/.build-id/xx/....debug; may be\n"
                   "given again (default /usr/lib/debug)")
      ->type_name("DIR");
  command
      ->add_option("--root", options->symbols.root,
                   "where the recorded machine's files lie")
      ->type_name("DIR");
  command->add_flag("--no-lines", options->no_lines,
                    "symbol tables only: faster");
  add_choice<Format>(*command, "--format", &options->format,
                     {{"text", Format::kText}, {"json", Format::kJson}});
  command->callback([options, exit] { *exit = symbolize(*options); });
}

}  // namespace weft::tools
