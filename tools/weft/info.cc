// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "choice.h"
#include "commands.h"
#include "file_digest.h"
#include "foreign_facts.h"
#include "line_clock.h"
#include "trace_facts.h"
#include "trace_file.h"
#include "trace_kind.h"

namespace weft::tools {
namespace {

enum class Format : std::uint8_t { kText, kJson };

struct InfoOptions {
  std::string file;
  Format format = Format::kText;
};

ExitCode show_chrome(const InfoOptions& options, const FileDigest& digest) {
  const auto facts = chrome_facts(options.file);
  if (!facts) return refuse(options.file, facts.error());
  return print(options.format == Format::kJson
                   ? chrome_facts_json(digest, *facts)
                   : chrome_facts_text(options.file, digest, *facts));
}

ExitCode show_database(const InfoOptions& options, const FileDigest& digest) {
  const auto facts = database_facts(options.file);
  if (!facts) return refuse(options.file, facts.error());
  return print(options.format == Format::kJson
                   ? database_facts_json(digest, *facts)
                   : database_facts_text(options.file, digest, *facts));
}

// All that can be said of a project of the Visual Profiler, which is no trace.
ExitCode show_xml(const InfoOptions& options, const FileDigest& digest) {
  complain(options.file +
           ": is XML, a project of the Visual Profiler perhaps; the profile "
           "itself is an SQLite file beside it");
  if (options.format == Format::kText) return ExitCode::kUnusable;
  JsonWriter json;
  json.open_object();
  write_digest(json, digest);
  json.member("form", "xml");
  json.member("not_sqlite", true);
  json.close();
  print(json.take());
  return ExitCode::kUnusable;
}

ExitCode show_foreign(const InfoOptions& options, TraceKind kind) {
  const auto digest = digest_of(options.file);
  if (!digest) return refuse(options.file, digest.error());
  switch (kind) {
    case TraceKind::kChromeJson: return show_chrome(options, *digest);
    case TraceKind::kSqlite: return show_database(options, *digest);
    case TraceKind::kXml: return show_xml(options, *digest);
    case TraceKind::kWeft: break;
  }
  return ExitCode::kUnusable;
}

ExitCode show_info(const InfoOptions& options) {
  const TraceKind kind = trace_kind(options.file);
  if (kind != TraceKind::kWeft) return show_foreign(options, kind);
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
      "Shows what a trace holds. Of a .weft file: process, clock, times, records,\n"
      "threads, categories, losses, metadata, problems. Of Chrome JSON (also .gz),\n"
      "nvprof and Nsight Systems files: events, times, threads, device work.");
  command->footer(
      "Examples:\n"
      "  weft info service.weft\n"
      "  weft info service.weft --format json | jq .lost_records\n"
      "\n"
      "Exit codes: 0 done; 2 wrong arguments, or FILE cannot be read.");
  command->add_option("FILE", options->file, "a trace")->type_name("")->required();
  add_choice<Format>(*command, "--format", &options->format,
                     {{"text", Format::kText}, {"json", Format::kJson}});
  command->callback([options, exit] { *exit = show_info(*options); });
}

}  // namespace weft::tools
