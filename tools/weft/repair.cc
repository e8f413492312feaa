// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "commands.h"
#include "quantity_text.h"
#include "trace_file.h"
#include "weft/export/chrome_json.h"

namespace weft::tools {
namespace {

struct RepairOptions {
  std::string file;
  std::string output;
  bool force = false;
};

bool is_json(std::string_view path) {
  return path.ends_with(".json") || path.ends_with(".json.gz");
}

ExitCode fail(const std::string& path, const Error& error) {
  complain(error.message.find(path) == std::string::npos
               ? fmt::format("{}: {}", path, error.message)
               : error.message);
  return error.code == ErrorCode::kCorrupt ? ExitCode::kUnusable
                                           : ExitCode::kProblems;
}

ExitCode repair_chrome_json(const RepairOptions& options) {
  const auto report = exporters::repair_json(options.file, options.output);
  if (!report) return fail(options.file, report.error());
  std::string done = fmt::format("{}: {}", printable(options.output),
                                 plural(report->events, "event"));
  if (report->was_complete) {
    done += "; the file was complete";
  } else {
    done += fmt::format("; closed {}, left out {} behind the last whole event",
                        plural(report->spans_closed, "open span"),
                        bytes_text(report->bytes_left_out));
  }
  return print(done + "\n");
}

ExitCode repair_weft(const RepairOptions& options) {
  const auto records = exporters::repair_trace(options.file, options.output);
  if (!records) return fail(options.file, records.error());
  return print(fmt::format("{}: {}\n", printable(options.output),
                           plural(*records, "record")));
}

ExitCode repair(const RepairOptions& options) {
  if (is_json(options.file) != is_json(options.output)) {
    complain(fmt::format("{}: must be of the kind of {}; `weft convert` changes "
                         "the format",
                         options.output, options.file));
    return ExitCode::kUnusable;
  }
  if (!may_write(options.file, options.output,
                 options.force ? Overwrite::kAllow : Overwrite::kRefuse))
    return ExitCode::kUnusable;
  return is_json(options.file) ? repair_chrome_json(options)
                               : repair_weft(options);
}

}  // namespace

void add_repair(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<RepairOptions>();
  CLI::App* const command = app.add_subcommand(
      "repair",
      "Makes a complete file of one whose process was killed, or that was "
      "damaged.");
  command->footer(
      "A .weft file keeps all whole blocks. A .json or .json.gz that weft wrote\n"
      "keeps all whole events; open spans are closed at the last time of their\n"
      "thread. FILE itself is not touched.\n"
      "\n"
      "Examples:\n"
      "  weft repair killed.weft -o whole.weft\n"
      "  weft repair killed.json.gz -o whole.json\n"
      "\n"
      "Exit codes: 0 written; 1 could not be written; 2 nothing of FILE can be\n"
      "used, or the output exists.");
  command->add_option("FILE", options->file, "a .weft, .json or .json.gz file")
      ->type_name("")->required();
  command->add_option("-o,--output", options->output, "file to write")
      ->type_name("OUT")->required();
  command->add_flag("-f,--force", options->force, "replace the output");
  command->callback([options, exit] { *exit = repair(*options); });
}

}  // namespace weft::tools
