// SPDX-License-Identifier: Apache-2.0
// The weft command. One file a subcommand; this one chooses between them.

#include <csignal>
#include <exception>
#include <string>

#include "commands.h"
#include "weft/version.h"

namespace {

constexpr const char* kDescription =
    "Reads, compares, checks and converts traces: those that weft recorded, Chrome\n"
    "JSON (PyTorch and others), nvprof and Nsight Systems files. Asks programs that\n"
    "record.";

constexpr const char* kFooter =
    "Examples:\n"
    "  weft info service.weft                      what was recorded, and is it whole?\n"
    "  weft summary service.weft --slowest 5       where did the time go?\n"
    "  weft stacks service.weft --svg -o flames.svg    which span inside which\n"
    "  weft diff old.weft new.weft --fail-on p99   what got slower?\n"
    "  weft convert service.weft -o service.json.gz    for a viewer\n"
    "  weft check service.weft --quiet || echo damaged\n"
    "  weft repair killed.weft -o whole.weft\n"
    "  weft ctl 4711 snapshot reason=\"slow\"          ask a running program\n"
    "  weft top 4711                               its busiest spans, live\n"
    "  weft symbolize service.weft                 stacks with names and lines\n"
    "\n"
    "`weft CMD --help` explains each. All of them read files that were cut, up to\n"
    "their last whole block, and say so.\n"
    "\n"
    "Exit codes: 0 done; 1 the file has problems, or the work broke off;\n"
    "2 wrong arguments, or a file that cannot be read.";

}  // namespace

int main(int argc, char** argv) {
  using weft::tools::ExitCode;
  // A write to a closed pipe shall fail, not kill: it ends quietly.
  std::signal(SIGPIPE, SIG_IGN);

  ExitCode exit = ExitCode::kDone;
  CLI::App app(kDescription, "weft");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("weft ") + weft::version());
  app.require_subcommand(1);
  weft::tools::add_info(app, &exit);
  weft::tools::add_summary(app, &exit);
  weft::tools::add_stacks(app, &exit);
  weft::tools::add_diff(app, &exit);
  weft::tools::add_convert(app, &exit);
  weft::tools::add_check(app, &exit);
  weft::tools::add_repair(app, &exit);
  weft::tools::add_ctl(app, &exit);
  weft::tools::add_top(app, &exit);
  weft::tools::add_symbolize(app, &exit);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    weft::tools::complain(error.what());
    weft::tools::complain("`weft --help` and `weft CMD --help` explain");
    return static_cast<int>(ExitCode::kUnusable);
  } catch (const std::exception& error) {
    weft::tools::complain(error.what());
    return static_cast<int>(ExitCode::kProblems);
  }
  return static_cast<int>(exit);
}
