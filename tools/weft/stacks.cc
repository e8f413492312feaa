// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "choice.h"
#include "commands.h"
#include "folded_spans.h"
#include "imported_trace.h"
#include "trace_file.h"

namespace weft::tools {
namespace {

enum class Unit : std::int64_t { kNs = 1, kUs = 1000 };

struct StacksOptions {
  std::string file;
  std::string output;
  bool svg = false;
  StackMetric metric = StackMetric::kSelfCpuTimeTotal;
  FrameSource frames = FrameSource::kAuto;
  Unit unit = Unit::kUs;
  bool force = false;
};

// To the file asked for, which a failure leaves away, or to standard output.
ExitCode deliver(const StacksOptions& options, const std::string& text) {
  if (options.output.empty()) return print(text);
  std::ofstream file(options.output, std::ios::binary);
  file << text;
  file.close();
  if (file) return ExitCode::kDone;
  complain(options.output + ": cannot be written");
  std::remove(options.output.c_str());
  return ExitCode::kProblems;
}

ExitCode show_stacks(const StacksOptions& options) {
  if (!options.output.empty() &&
      !may_write(options.file, options.output,
                 options.force ? Overwrite::kAllow : Overwrite::kRefuse))
    return ExitCode::kUnusable;
  const auto events = import_trace(options.file);
  if (!events) return ExitCode::kUnusable;
  const auto tree = stack_tree(*events, options.metric, options.frames);
  if (tree->children.empty())
    complain(options.file + ": note: no time to show as stacks");
  return deliver(options,
                 options.svg
                     ? flame_graph_svg(*tree, options.file)
                     : folded_text(*tree, static_cast<std::int64_t>(
                                              options.unit)));
}

}  // namespace

void add_stacks(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<StacksOptions>();
  CLI::App* const command = app.add_subcommand(
      "stacks",
      "Writes folded stacks, or a flame graph: which span inside which, and the\n"
      "time spent right there.");
  command->footer(
      "A line a stack, \"outermost;...;innermost N\", which flame graph tools read.\n"
      "\n"
      "Examples:\n"
      "  weft stacks service.weft > service.folded\n"
      "  weft stacks service.weft --svg -o service.svg\n"
      "  weft stacks trace.json.gz --metric self_device_time_total\n"
      "\n"
      "Exit codes: 0 done; 1 the output could not be written; 2 wrong arguments,\n"
      "or FILE cannot be read.");
  command
      ->add_option("FILE", options->file,
                   "a trace: .weft, Chrome JSON, nvprof or Nsight Systems")
      ->type_name("")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "file to write; standard output without it")
      ->type_name("OUT");
  command->add_flag("--svg", options->svg, "a flame graph instead of lines");
  add_choice<StackMetric>(
      *command, "--metric", &options->metric,
      {{"self_cpu_time_total", StackMetric::kSelfCpuTimeTotal},
       {"self_device_time_total", StackMetric::kSelfDeviceTimeTotal},
       {"self_cuda_time_total", StackMetric::kSelfCudaTimeTotal},
       {"self_xpu_time_total", StackMetric::kSelfXpuTimeTotal},
       {"self_privateuse1_time_total",
        StackMetric::kSelfPrivateuse1TimeTotal}});
  add_choice<FrameSource>(*command, "--frames", &options->frames,
                          {{"auto", FrameSource::kAuto},
                           {"spans", FrameSource::kSpans},
                           {"recorded", FrameSource::kRecorded}});
  add_choice<Unit>(*command, "--unit", &options->unit,
                   {{"us", Unit::kUs}, {"ns", Unit::kNs}});
  command->add_flag("-f,--force", options->force, "replace the output");
  command->callback([options, exit] { *exit = show_stacks(*options); });
}

}  // namespace weft::tools
