// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.h"
#include "quantity_text.h"
#include "trace_file.h"

namespace weft::tools {
namespace {

struct CheckOptions {
  std::string file;
  bool quiet = false;
};

ExitCode check(const CheckOptions& options) {
  auto reader = open_trace(options.file);
  if (!reader) return ExitCode::kUnusable;
  const auto problems = exporters::check_trace(*reader);
  const exporters::TraceInfo& info = reader->info();
  const bool is_whole = problems.empty() && info.complete;
  const ExitCode found = is_whole ? ExitCode::kDone : ExitCode::kProblems;
  if (options.quiet) return found;

  for (const exporters::TraceProblem& problem : problems)
    complain(problem_text(options.file, problem));
  if (!info.complete)
    complain(fmt::format("{}: `weft repair` makes a complete file of its {}",
                         options.file, plural(info.blocks, "whole block")));
  const std::string lost =
      lost_records(info) == 0
          ? std::string()
          : fmt::format(", {} lost and accounted for",
                        count_text(lost_records(info)));
  const ExitCode printed = print(fmt::format(
      "{}: {}: {} in {}, {}{}\n", printable(options.file),
      is_whole ? std::string("whole and consistent")
               : problems.empty() ? std::string("cut, else consistent")
                                  : plural(problems.size(), "problem"),
      plural(info.records, "record"), plural(info.blocks, "block"),
      bytes_text(info.file_bytes), lost));
  return printed == ExitCode::kDone ? found : printed;
}

}  // namespace

void add_check(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* const command = app.add_subcommand(
      "check",
      "Reads all of a .weft file and says whether it is whole and consistent:\n"
      "checksums, sizes, order of time, gaps that no loss explains, accounts.");
  command->footer(
      "Each problem is a line on standard error: weft: FILE: at byte N: reason\n"
      "Records that were lost while recording are no problem as long as the file\n"
      "accounts for them.\n"
      "\n"
      "Exit codes: 0 whole and consistent; 1 problems, or cut; 2 cannot be read.");
  command->add_option("FILE", options->file, "a .weft file")->type_name("")->required();
  command->add_flag("-q,--quiet", options->quiet, "only the exit code");
  command->callback([options, exit] { *exit = check(*options); });
}

}  // namespace weft::tools
