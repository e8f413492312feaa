// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "averages_report.h"
#include "choice.h"
#include "commands.h"
#include "imported_trace.h"
#include "line_clock.h"
#include "summary_report.h"
#include "trace_file.h"
#include "trace_kind.h"

namespace weft::tools {
namespace {

enum class Format : std::uint8_t { kText, kTable, kCsv, kJson };

struct SummaryOptions {
  std::string file;
  Format format = Format::kText;
  std::string sort_by;    // empty: the default
  std::size_t limit = 0;  // 0: all
  std::string group_by;
  bool top_level = false;
  DeviceChoice device = DeviceChoice::kAll;
  std::vector<std::string> categories;
  std::vector<std::string> threads;
  std::size_t slowest = 0;
};

bool add_category(const exporters::TraceInfo& info, const std::string& name,
                  SummaryFilter* filter) {
  bool is_known = false;
  for (const SiteInfo& site : info.sites) {
    if (site.number == SiteId::kNone || info.text(site.category) != name)
      continue;
    filter->categories.insert(static_cast<std::uint32_t>(site.category));
    is_known = true;
  }
  return is_known;
}

// A thread by its name, kernel number or index. Several may have one name.
bool add_threads(const exporters::TraceInfo& info, const std::string& wanted,
                 SummaryFilter* filter) {
  std::uint32_t number = 0;
  const char* const end = wanted.data() + wanted.size();
  const auto parsed = std::from_chars(wanted.data(), end, number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == end;
  bool is_known = false;
  for (const ThreadInfo& thread : info.threads) {
    const auto index = static_cast<std::uint32_t>(thread.index);
    if (info.text(thread.name) != wanted &&
        !(is_number && (thread.tid == number || index == number)))
      continue;
    filter->threads.insert(index);
    is_known = true;
  }
  return is_known;
}

std::optional<SummaryFilter> make_filter(const SummaryOptions& options,
                                         const exporters::TraceInfo& info) {
  SummaryFilter filter;
  for (const std::string& category : options.categories) {
    if (add_category(info, category, &filter)) continue;
    complain(fmt::format(
        "{}: has no category \"{}\"; `weft info` lists those it has",
        options.file, category));
    return std::nullopt;
  }
  for (const std::string& thread : options.threads) {
    if (add_threads(info, thread, &filter)) continue;
    complain(fmt::format(
        "{}: has no thread \"{}\"; `weft info` lists those it has",
        options.file, thread));
    return std::nullopt;
  }
  return filter;
}

// Feeds all records of the file, in its order.
template <class Consumer>
void read_all(exporters::TraceReader& reader, LineClock& clock,
              const char* what, Consumer& consumer) {
  Progress progress(what);
  exporters::DecodedRecord record;
  while (reader.next(&record)) {
    consumer.add(record, clock.time_of(record));
    progress.step([&] { return reader.progress(); });
  }
  consumer.finish();
}

std::vector<const SpanFigures*> limited(std::vector<const SpanFigures*> spans,
                                        std::size_t limit) {
  if (limit != 0 && spans.size() > limit) spans.resize(limit);
  return spans;
}

constexpr std::pair<const char*, SpanOrder> kOrders[] = {
    {"total", SpanOrder::kTotal}, {"self", SpanOrder::kSelf},
    {"count", SpanOrder::kCount}, {"mean", SpanOrder::kMean},
    {"p50", SpanOrder::kP50},     {"p99", SpanOrder::kP99},
    {"max", SpanOrder::kMax},     {"name", SpanOrder::kName}};

std::optional<SpanOrder> span_order(const std::string& word) {
  if (word.empty()) return SpanOrder::kTotal;
  for (const auto& [name, order] : kOrders)
    if (word == name) return order;
  return std::nullopt;
}

// Whether the profiler's averages answer, and not the figures of spans.
bool asks_for_averages(const SummaryOptions& options) {
  return options.format == Format::kTable || !options.group_by.empty() ||
         options.top_level || options.device != DeviceChoice::kAll ||
         trace_kind(options.file) != TraceKind::kWeft;
}

ExitCode refuse_argument(const std::string& what) {
  complain(what);
  return ExitCode::kUnusable;
}

ExitCode show_averages(const SummaryOptions& options) {
  if (!options.categories.empty() || !options.threads.empty() ||
      options.slowest != 0)
    return refuse_argument(
        "--category, --thread and --slowest are for the spans of a .weft file, "
        "without --group-by, --top-level, --device and --format table");
  AveragesOptions averages;
  averages.device = options.device;
  averages.top_level_only = options.top_level;
  if (options.limit != 0)
    averages.row_limit = static_cast<std::int64_t>(options.limit);
  if (!options.sort_by.empty()) averages.sort_by = options.sort_by;
  if (!is_average_order(averages.sort_by))
    return refuse_argument(fmt::format(
        "--sort-by {}: averages can be sorted by total, self, count, mean, "
        "name, or a column such as self_cpu_time_total",
        options.sort_by));
  if (!options.group_by.empty()) {
    const auto key = parse_group_by(options.group_by);
    if (!key)
      return refuse_argument(fmt::format(
          "--group-by {}: must be name, shape or stack:N with N above 0",
          options.group_by));
    averages.key = *key;
  }
  const auto all = key_averages_of(options.file, averages.key);
  if (!all) return ExitCode::kUnusable;
  const KeyAverages rows = chosen_averages(*all, averages);
  switch (options.format) {
    case Format::kText:
    case Format::kTable: return print(averages_text(rows, averages));
    case Format::kJson: return print(averages_json(options.file, rows, averages));
    case Format::kCsv: break;
  }
  return print(averages_csv(rows, averages));
}

ExitCode summarize(const SummaryOptions& options) {
  if (asks_for_averages(options)) return show_averages(options);
  const auto order = span_order(options.sort_by);
  if (!order)
    return refuse_argument(fmt::format(
        "--sort-by {}: must be one of total, self, count, mean, p50, p99, max, "
        "name",
        options.sort_by));
  auto reader = open_trace(options.file);
  if (!reader) return ExitCode::kUnusable;
  const exporters::TraceInfo& info = reader->info();
  const auto filter = make_filter(options, info);
  if (!filter) return ExitCode::kUnusable;

  LineClock clock(info);
  TraceSummary summary(info, *filter, options.slowest);
  read_all(*reader, clock, "reading", summary);

  SummaryReport report;
  report.path = &options.file;
  report.info = &info;
  report.summary = &summary;
  report.start_ns = clock.line().to_ns(info.subscription.start_tick);
  const std::int64_t end_ns =
      info.complete && info.end.stop_tick != 0
          ? clock.line().to_ns(info.end.stop_tick)
          : summary.last_ns();
  if (end_ns > report.start_ns)
    report.duration_ns = static_cast<std::uint64_t>(end_ns) -
                         static_cast<std::uint64_t>(report.start_ns);
  report.spans = limited(ordered(info, summary.spans(), *order),
                         options.limit);
  report.async_spans =
      limited(ordered(info, summary.async_spans(), *order),
              options.limit);

  std::optional<SpanTrees> trees;
  if (options.slowest != 0) {
    trees.emplace(info, slowest_trees(summary, options.slowest));
    reader->rewind();
    clock.rewind();
    read_all(*reader, clock, "collecting the slowest", *trees);
    report.trees = &*trees;
  }
  remark(options.file, info);  // after reading: it may have found more

  switch (options.format) {
    case Format::kText:
    case Format::kTable: return print(summary_text(report, output_width()));
    case Format::kJson: return print(summary_json(report));
    case Format::kCsv: break;
  }
  if (const std::string lost = loss_line(info); !lost.empty())
    complain(fmt::format("{}: note: {}", options.file, lost));
  return print(summary_csv(report));
}

}  // namespace

void add_summary(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<SummaryOptions>();
  CLI::App* const command = app.add_subcommand(
      "summary", "Shows where the time went: figures for each span name.");
  command->footer(
      "total   sum of the durations        self   less the spans directly inside\n"
      "p99     99 % took no longer; percentiles are exact to 0.4 %, all else to 1 ns\n"
      "\n"
      "Self times of a thread add up to its \"in spans\". Spans that ended out of\n"
      "order or on another thread count in total but have no self time. Losses\n"
      "come first, if there are any: all figures are without what was lost.\n"
      "\n"
      "Of other files, and with --format table, --group-by, --top-level or --device,\n"
      "it shows the profiler's averages, with times of devices and memory.\n"
      "\n"
      "--slowest shows requests (weft::Request) with all that any thread did for\n"
      "them, and root spans that belong to none.\n"
      "\n"
      "Examples:\n"
      "  weft summary service.weft --sort-by p99 --limit 20\n"
      "  weft summary service.weft --slowest 3\n"
      "  weft summary service.weft --category net --thread acceptor\n"
      "  weft summary service.weft --format csv > figures.csv\n"
      "  weft summary trace.json.gz --group-by shape --sort-by self_cuda_time_total\n"
      "\n"
      "Exit codes: 0 done; 2 wrong arguments, or FILE cannot be read.");
  command->add_option("FILE", options->file, "a trace")->type_name("")->required();
  add_choice<Format>(*command, "--format", &options->format,
                     {{"text", Format::kText},
                      {"table", Format::kTable},
                      {"csv", Format::kCsv},
                      {"json", Format::kJson}});
  command
      ->add_option("--sort-by", options->sort_by,
                   "total, self, count, mean, name; of spans also p50, p99, "
                   "max; of averages also a column: self_cpu_time_total")
      ->type_name("WORD");
  command
      ->add_option("--limit,--row-limit", options->limit,
                   "show this many names only; 0: all")
      ->type_name("N");
  command
      ->add_option("--category", options->categories,
                   "count this category only; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--thread", options->threads,
                   "count this thread only, by name, tid or index; may be "
                   "given again")
      ->type_name("THREAD")
      ->allow_extra_args(false);
  command
      ->add_option("--group-by", options->group_by,
                   "averages by name, shape or stack:N")
      ->type_name("KEY");
  command->add_flag("--top-level", options->top_level,
                    "averages of what runs inside nothing else only");
  add_choice<DeviceChoice>(*command, "--device", &options->device,
                           {{"all", DeviceChoice::kAll},
                            {"cpu", DeviceChoice::kHost},
                            {"cuda", DeviceChoice::kCuda},
                            {"xpu", DeviceChoice::kXpu},
                            {"mtia", DeviceChoice::kMtia},
                            {"custom", DeviceChoice::kCustom}});
  constexpr std::size_t kMostSlowest = 1000;
  command
      ->add_option("--slowest", options->slowest,
                   "show the N slowest requests and root spans as trees")
      ->check(CLI::Range(std::size_t{0}, kMostSlowest).description(""))
      ->type_name("N");
  command->callback([options, exit] { *exit = summarize(*options); });
}

}  // namespace weft::tools
