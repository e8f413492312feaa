// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "choice.h"
#include "commands.h"
#include "line_clock.h"
#include "trace_facts.h"
#include "trace_file.h"

namespace weft::tools {
namespace {

enum class Format : std::uint8_t { kText, kJson };

struct InfoOptions {
  std::string file;
  Format format = Format::kText;
};

ExitCode show_info(const InfoOptions& options) {
  auto reader = open_trace(options.file);
  if (!reader) return ExitCode::kUnusable;
  LineClock clock(reader->info());
  TraceFacts facts(reader->info());
  {
    Progress progress("reading");
    exporters::DecodedRecord record;
    while (reader->next(&record)) {
      facts.add(record, clock.time_of(record));
      progress.step([&] { return reader->progress(); });
    }
  }
  remark(options.file, reader->info());
  return print(options.format == Format::kJson
                   ? facts_json(options.file, facts, clock.line())
                   : facts_text(options.file, facts, clock.line(),
                                output_width()));
}

}  // namespace

void add_info(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* const command = app.add_subcommand(
      "info",
      "Shows what a .weft file holds: process, clock, times, records, threads,\n"
      "categories, losses, metadata, problems.");
  command->footer(
      "Examples:\n"
      "  weft info service.weft\n"
      "  weft info service.weft --format json | jq .lost_records\n"
      "\n"
      "Exit codes: 0 done; 2 wrong arguments, or FILE cannot be read.");
  command->add_option("FILE", options->file, "a .weft file")->type_name("")->required();
  add_choice<Format>(*command, "--format", &options->format,
                     {{"text", Format::kText}, {"json", Format::kJson}});
  command->callback([options, exit] { *exit = show_info(*options); });
}

}  // namespace weft::tools
