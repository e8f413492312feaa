// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "commands.h"
#include "duration_argument.h"
#include "imported_trace.h"
#include "quantity_text.h"
#include "trace_file.h"
#include "trace_kind.h"
#include "weft/export/chrome_json.h"

namespace weft::tools {
namespace {

struct ConvertOptions {
  std::string file;
  std::string output;
  std::uint64_t split_bytes = 0;
  std::string split_time;
  bool force = false;
};

// Whether nothing is in the way of the output: of the first thousand parts,
// NAME.000.json and so on, if it is split.
bool may_write_all(const ConvertOptions& options) {
  const Overwrite overwrite =
      options.force ? Overwrite::kAllow : Overwrite::kRefuse;
  if (options.split_bytes == 0 && options.split_time.empty())
    return may_write(options.file, options.output, overwrite);
  constexpr int kParts = 1000;
  const std::string_view suffix =
      options.output.ends_with(".gz") ? ".json.gz" : ".json";
  const std::string stem =
      options.output.substr(0, options.output.size() - suffix.size());
  for (int part = 0; part < kParts; ++part)
    if (!may_write(options.file, fmt::format("{}.{:03}{}", stem, part, suffix),
                   overwrite))
      return false;
  return true;
}

// What other tools wrote, read as rows and written as the profiler does.
ExitCode convert_foreign(const ConvertOptions& options) {
  if (options.split_bytes != 0 || !options.split_time.empty()) {
    complain(options.file + ": only a .weft file can be split");
    return ExitCode::kUnusable;
  }
  if (!may_write_all(options)) return ExitCode::kUnusable;
  const auto events = import_trace(options.file);
  if (!events) return ExitCode::kUnusable;
  const auto written = events->export_chrome_trace(options.output);
  if (!written) {
    complain(written.error().message);
    return ExitCode::kProblems;
  }
  return print(fmt::format("{}: {}\n", printable(options.output),
                           plural(events->size(), "row")));
}

ExitCode convert(const ConvertOptions& options) {
  if (!options.output.ends_with(".json") &&
      !options.output.ends_with(".json.gz")) {
    complain(fmt::format("{}: the output must end in .json or .json.gz",
                         options.output));
    return ExitCode::kUnusable;
  }
  if (trace_kind(options.file) != TraceKind::kWeft)
    return convert_foreign(options);
  exporters::ChromeJsonOptions json;
  json.max_bytes = options.split_bytes;
  if (!options.split_time.empty()) {
    const auto duration = duration_argument(options.split_time);
    if (!duration) {
      complain(fmt::format("--split-time {}: not a duration above 0 such as "
                           "500ms, 10s or 5m",
                           options.split_time));
      return ExitCode::kUnusable;
    }
    json.max_duration = *duration;
  }
  auto reader = open_trace(options.file);
  if (!reader) return ExitCode::kUnusable;
  if (!may_write_all(options)) return ExitCode::kUnusable;
  remark(options.file, reader->info());

  const auto files =
      exporters::convert_to_chrome_json(*reader, options.output, json);
  if (!files) {
    complain(files.error().message);
    return files.error().code == ErrorCode::kInvalidArgument
               ? ExitCode::kUnusable
               : ExitCode::kProblems;
  }
  std::string report;
  for (const exporters::JsonFileReport& file : *files) {
    report += fmt::format("{}: {}, {}", printable(file.path),
                          plural(file.events, "event"),
                          bytes_text(file.file_bytes));
    if (file.file_bytes != file.text_bytes)
      report += fmt::format(" ({} of JSON)", bytes_text(file.text_bytes));
    report += '\n';
    if (!file.hint.empty())
      report += fmt::format("  hint: {}\n", printable(file.hint));
  }
  if (const std::uint64_t lost = lost_records(reader->info()); lost != 0)
    report += fmt::format("lost while recording: {}\n", plural(lost, "record"));
  return print(report);
}

}  // namespace

void add_convert(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* const command = app.add_subcommand(
      "convert",
      "Writes a trace as Chrome JSON, which chrome://tracing, Perfetto, speedscope\n"
      "and DevTools open: a .weft file, or one of nvprof or Nsight Systems.");
  command->footer(
      "With a limit the files are OUT.000.json, OUT.001.json, ...; each can be\n"
      "opened by itself.\n"
      "\n"
      "Examples:\n"
      "  weft convert service.weft -o service.json\n"
      "  weft convert service.weft -o service.json.gz --split-time 10s\n"
      "  weft convert service.weft -o service.json --split-bytes 200MB\n"
      "\n"
      "Exit codes: 0 written; 1 the work broke off, for example on a full disk;\n"
      "2 FILE cannot be read, or the output exists.");
  command->add_option("FILE", options->file, "a trace")->type_name("")->required();
  command->add_option("-o,--output", options->output,
                      "file to write: .json or .json.gz")
      ->type_name("OUT")->required();
  command
      ->add_option("--split-bytes", options->split_bytes,
                   "most JSON text in one file, before compression: 200MB")
      ->transform(CLI::AsSizeValue(true).description(""))
      ->type_name("SIZE");
  command
      ->add_option("--split-time", options->split_time,
                   "most time in one file: 500ms, 10s, 5m")
      ->type_name("TIME");
  command->add_flag("-f,--force", options->force, "replace the output");
  command->callback([options, exit] { *exit = convert(*options); });
}

}  // namespace weft::tools
