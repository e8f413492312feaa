// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "control_client.h"

namespace weft::tools {
namespace {

struct CtlOptions {
  std::string target;
  std::vector<std::string> words;
};

ExitCode ask(const CtlOptions& options) {
  std::string request;
  for (const std::string& word : options.words)
    request += (request.empty() ? "" : " ") + word;
  if (request.find('\n') != std::string::npos) {
    complain("a request is one line");
    return ExitCode::kUnusable;
  }
  const Result<std::string> answer = ask_process(options.target, request);
  if (!answer.ok()) {
    complain(answer.error().message);
    return answer.error().code == ErrorCode::kIo ? ExitCode::kUnusable
                                                 : ExitCode::kProblems;
  }
  return print(*answer);
}

}  // namespace

void add_ctl(CLI::App& app, ExitCode* exit) {
  auto options = std::make_shared<CtlOptions>();
  CLI::App* const command = app.add_subcommand(
      "ctl",
      "Asks a running program for something, over its control socket: what it\n"
      "records, to start or stop, to change categories, for a snapshot.");
  command->footer(
      "Requests:\n"
      "  status                       what it records, and what was dropped\n"
      "  start | stop                 recording\n"
      "  categories FILTER            \"net,-db\"; nothing: everything\n"
      "  rotate                       go on in another file\n"
      "  snapshot [before=5s] [after=1s] [reason=TEXT]\n"
      "                               of a flight recorder; prints the path\n"
      "  metrics                      figures as a Prometheus page\n"
      "\n"
      "The program listens when it runs with WEFT_CONTROL=on, or a path, or with\n"
      "InitOptions::control. Only its own user and root are answered.\n"
      "\n"
      "Exit codes: 0 done; 1 the program refuses; 2 nobody listens there.");
  command->add_option("PID", options->target, "process id, or path of a socket")
      ->type_name("")
      ->required();
  command->add_option("REQUEST", options->words, "see below")
      ->type_name("")
      ->required();
  command->callback([options, exit] { *exit = ask(*options); });
}

}  // namespace weft::tools
