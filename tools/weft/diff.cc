// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "choice.h"
#include "commands.h"
#include "duration_argument.h"
#include "trace_diff.h"

namespace weft::tools {
namespace {

enum class Format : std::uint8_t { kTable, kCsv, kJson };

struct DiffOptions {
  std::string before;
  std::string after;
  Format format = Format::kTable;
  std::vector<std::string> fail_on;
  double threshold = 10;
  std::uint64_t min_count = 1;
  std::string min_growth;
};

ExitCode show_diff(const DiffOptions& options) {
  DiffRules rules;
  rules.threshold_percent = options.threshold;
  rules.min_count = options.min_count;
  for (const DiffFigure figure : kDiffFigures)
    if (std::find(options.fail_on.begin(), options.fail_on.end(),
                  figure_text(figure)) != options.fail_on.end())
      rules.judged.push_back(figure);
  if (!options.min_growth.empty()) {
    const auto growth = duration_argument(options.min_growth);
    if (!growth) {
      complain(fmt::format("--min-growth {}: not a duration above 0 such as "
                           "10us, 500ms or 1s",
                           options.min_growth));
      return ExitCode::kUnusable;
    }
    rules.min_growth_ns = static_cast<std::uint64_t>(growth->count());
  }
  const auto before = name_figures(options.before);
  if (!before) return ExitCode::kUnusable;
  const auto after = name_figures(options.after);
  if (!after) return ExitCode::kUnusable;
  const std::vector<DiffRow> rows = compare(*before, *after, rules);
  ExitCode exit = ExitCode::kDone;
  switch (options.format) {
    case Format::kTable: exit = print(diff_text(rows, output_width())); break;
    case Format::kCsv: exit = print(diff_csv(rows)); break;
    case Format::kJson: exit = print(diff_json(rows)); break;
  }
  const bool any = std::any_of(rows.begin(), rows.end(),
                               [](const DiffRow& row) { return row.exceeds; });
  return exit == ExitCode::kDone && any ? ExitCode::kProblems : exit;
}

}  // namespace

void add_diff(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* const command = app.add_subcommand(
      "diff",
      "Compares two traces name by name: counts, totals, p50, p99; for CI, which\n"
      "the exit code tells of growth.");
  command->footer(
      "A name exceeds if a figure that --fail-on gives grew by more than the\n"
      "threshold. Names that only one trace has are shown, and never exceed.\n"
      "\n"
      "Examples:\n"
      "  weft diff yesterday.weft today.weft\n"
      "  weft diff base.weft new.weft --fail-on p50 --fail-on p99 --threshold 15\n"
      "  weft diff a.json.gz b.json.gz --format csv > diff.csv\n"
      "\n"
      "Exit codes: 0 done, nothing exceeds; 1 something exceeds; 2 wrong\n"
      "arguments, or a file that cannot be read.");
  command->add_option("BEFORE", options->before, "a trace")
      ->type_name("")
      ->required();
  command->add_option("AFTER", options->after, "a trace")
      ->type_name("")
      ->required();
  add_choice<Format>(*command, "--format", &options->format,
                     {{"table", Format::kTable},
                      {"csv", Format::kCsv},
                      {"json", Format::kJson}});
  command
      ->add_option("--fail-on", options->fail_on,
                   "count, total, p50 or p99; may be given again")
      ->check(CLI::IsMember({"count", "total", "p50", "p99"}).description(""))
      ->type_name("FIGURE")
      ->allow_extra_args(false);
  command
      ->add_option("--threshold", options->threshold,
                   "growth in percent that is too much; default 10")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("PERCENT");
  command
      ->add_option("--min-count", options->min_count,
                   "judge names with that many spans in both only; default 1")
      ->type_name("N");
  command
      ->add_option("--min-growth", options->min_growth,
                   "growth of a time below it is never too much: 10us")
      ->type_name("TIME");
  command->callback([options, exit] { *exit = show_diff(*options); });
}

}  // namespace weft::tools
