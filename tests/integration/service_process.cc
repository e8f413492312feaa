// SPDX-License-Identifier: Apache-2.0
#include "integration/service_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace weft::test {
namespace {

constexpr std::string_view kListening = "listening on 127.0.0.1:";

}  // namespace

ServiceProcess::ServiceProcess(const std::string& program,
                               const std::vector<std::string>& options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  std::vector<std::string> words{program};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(),
                  environ) != 0) {
    pid_ = 0;
  }
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  output_ = ::fdopen(ends[0], "r");

  const std::string line = read_line();
  if (line.starts_with(kListening)) {
    port_ = std::atoi(line.c_str() + kListening.size());
  }
}

ServiceProcess::~ServiceProcess() {
  if (pid_ != 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (output_ != nullptr) std::fclose(output_);
}

int ServiceProcess::stop() {
  if (pid_ == 0) return -1;
  ::kill(pid_, SIGTERM);
  report_ = read_line();
  int status = -1;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return status;
}

std::int64_t ServiceProcess::reported(const std::string& name) const {
  const std::string key = "\"" + name + "\":";
  const std::size_t at = report_.find(key);
  if (at == std::string::npos) return -1;
  return std::strtoll(report_.c_str() + at + key.size(), nullptr, 10);
}

std::string ServiceProcess::read_line() {
  std::string line;
  if (output_ == nullptr) return line;
  for (int c = std::fgetc(output_); c != EOF && c != '\n';
       c = std::fgetc(output_)) {
    line += static_cast<char>(c);
  }
  return line;
}

}  // namespace weft::test
