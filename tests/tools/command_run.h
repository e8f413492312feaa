// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_TOOLS_COMMAND_RUN_H_
#define WEFT_TESTS_TOOLS_COMMAND_RUN_H_

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "export/weft_file.h"

namespace weft::tools {

struct Outcome {
  int code = -1;
  std::string out;
  std::string errors;
};

// Runs the built command. Arguments are for a shell; paths of tests need no
// quotes.
inline Outcome run(const std::string& arguments) {
  const test::TempPath errors(".stderr");
  const std::string line =
      std::string(WEFT_COMMAND) + " " + arguments + " 2>" + errors.str();
  Outcome outcome;
  FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << line;
    return outcome;
  }
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.out.append(buffer, n);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  const test::Bytes text = test::read_file(errors.str());
  outcome.errors.assign(text.begin(), text.end());
  return outcome;
}

}  // namespace weft::tools

#endif  // WEFT_TESTS_TOOLS_COMMAND_RUN_H_
