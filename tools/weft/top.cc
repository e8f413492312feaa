// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "commands.h"
#include "control_client.h"
#include "live_page.h"

namespace weft::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct TopOptions {
  std::string target;
  double interval = 1;  // seconds
  std::uint64_t times = 0;
  std::size_t rows = 30;
};

ExitCode show(const TopOptions& options) {
  // On a terminal each table takes the place of the last.
  const bool in_place = isatty(STDOUT_FILENO) == 1;
  LivePage before;
  Clock::time_point then = Clock::now();
  for (std::uint64_t i = 0;; ++i) {
    const Result<std::string> page = ask_process(options.target, "metrics");
    if (!page.ok()) {
      complain(page.error().message);
      return i == 0 ? ExitCode::kUnusable : ExitCode::kDone;
    }
    const Clock::time_point at = Clock::now();
    LivePage now = parse_live_page(*page);
    // The first page says what was since the beginning, not at what rate.
    if (i != 0) {
      const std::string text =
          live_text(before, now, std::chrono::duration<double>(at - then).count(),
                    options.rows, output_width());
      const ExitCode printed =
          print((in_place ? "\033[H\033[2J" : "") + text + (in_place ? "" : "\n"));
      if (printed != ExitCode::kDone) return printed;
      if (i == options.times) return ExitCode::kDone;
    }
    before = std::move(now);
    then = at;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
  }
}

}  // namespace

void add_top(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* const command = app.add_subcommand(
      "top",
      "Shows the busiest spans of a running program: rate, share of time,\n"
      "latencies, drops. Needs its control socket and live figures.");
  command->footer(
      "  WEFT_CONTROL=on WEFT_LIVE=1 ./service &\n"
      "  weft top $!\n"
      "\n"
      "busy is the time in such spans per second, on all threads together.\n"
      "Ends with the program, or by Ctrl-C.\n"
      "\n"
      "Exit codes: 0 done; 2 nobody listens there.");
  command->add_option("PID", options->target, "process id, or path of a socket")
      ->type_name("")
      ->required();
  command->add_option("--interval", options->interval, "seconds between tables")
      ->type_name("S")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  command->add_option("--times", options->times, "tables, then end; 0: for ever")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--rows", options->rows, "names at most")
      ->type_name("N")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->callback([options, exit] { *exit = show(*options); });
}

}  // namespace weft::tools
