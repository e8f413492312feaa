// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_COMMANDS_H_
#define WEFT_TOOLS_WEFT_COMMANDS_H_

#include <CLI/CLI.hpp>

#include "terminal.h"

namespace weft::tools {

// Each adds one subcommand, which sets `*exit` when it was asked for and has
// run. `exit` must outlive the parsing.
void add_info(CLI::App& app, ExitCode* exit);
void add_summary(CLI::App& app, ExitCode* exit);
void add_stacks(CLI::App& app, ExitCode* exit);
void add_diff(CLI::App& app, ExitCode* exit);
void add_convert(CLI::App& app, ExitCode* exit);
void add_check(CLI::App& app, ExitCode* exit);
void add_repair(CLI::App& app, ExitCode* exit);
void add_ctl(CLI::App& app, ExitCode* exit);
void add_top(CLI::App& app, ExitCode* exit);
void add_symbolize(CLI::App& app, ExitCode* exit);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_COMMANDS_H_
