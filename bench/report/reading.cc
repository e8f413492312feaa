// SPDX-License-Identifier: Apache-2.0
#include "reading.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "service_cpu.h"

extern char** environ;

namespace weft::bench {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_usec) / 1e6;
}

constexpr const char* kOperators[] = {
    "aten::mm",   "aten::add_",  "aten::empty",       "aten::copy_",
    "aten::view", "aten::relu",  "aten::convolution", "aten::as_strided",
    "aten::to",   "aten::linear"};

// Operator, operator inside, call, arrow, kernel: {0} is the step, {1} its
// microsecond, {2} the thread, {3} and {4} the operators.
constexpr std::string_view kStep = R"x(
{{"ph": "X", "cat": "cpu_op", "name": "{3}", "pid": 10, "tid": {2}, "ts": 170000000{1:07}.125, "dur": 45.500, "args": {{"External id": {0}, "Record function id": 0, "Concrete Inputs": ["", "", "1"], "Input type": ["float", "float", "Scalar"], "Input Strides": [[64, 1], [64, 1], []], "Input Dims": [[32, 64], [32, 64], []], "Ev Idx": {0}}}}},
{{"ph": "X", "cat": "cpu_op", "name": "{4}", "pid": 10, "tid": {2}, "ts": 170000000{1:07}.375, "dur": 35.250, "args": {{"External id": {0}000, "Ev Idx": {0}}}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": {2}, "ts": 170000000{1:07}.625, "dur": 8.125, "args": {{"External id": {0}000, "cbid": 211, "correlation": {0}}}}},
{{"ph": "s", "id": {0}, "pid": 10, "tid": {2}, "ts": 170000000{1:07}.625, "cat": "ac2g", "name": "ac2g"}},
{{"ph": "f", "id": {0}, "pid": 0, "tid": 7, "ts": 170000000{1:07}.875, "cat": "ac2g", "name": "ac2g", "bp": "e"}},
{{"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)", "pid": 0, "tid": 7, "ts": 170000000{1:07}.875, "dur": 24.000, "args": {{"External id": {0}000, "device": 0, "stream": 7, "correlation": {0}, "registers per thread": 32, "grid": [64, 1, 1], "block": [256, 1, 1]}}}},)x";

double parse_here(const std::string& path) {
  simdjson::padded_string text;
  if (simdjson::padded_string::load(path).get(text) != simdjson::SUCCESS) {
    return -1;
  }
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  const std::uint64_t begin = own_cpu_ns();
  const auto error = parser.parse(text).get(document);
  const std::uint64_t end = own_cpu_ns();
  return error == simdjson::SUCCESS ? static_cast<double>(end - begin) / 1e9
                                    : -1;
}

}  // namespace

std::uint64_t write_chrome_trace(const std::string& path,
                                 std::uint64_t bytes) {
  constexpr std::uint64_t kEventsAStep = 6;
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return 0;
  std::fputs("{\"schemaVersion\": 1, \"traceEvents\": [", file);
  std::uint64_t steps = 0;
  std::uint64_t written = 0;
  for (std::string text; written < bytes; ++steps) {
    text.clear();
    constexpr std::size_t kNames = std::size(kOperators);
    fmt::format_to(std::back_inserter(text), kStep, steps + 1, steps * 50,
                   11 + steps % 2, kOperators[steps % kNames],
                   kOperators[steps / 3 % kNames]);
    std::fwrite(text.data(), 1, text.size(), file);
    written += text.size();
  }
  std::fputs("{\"ph\": \"M\", \"name\": \"end\"}]}\n", file);
  return std::fclose(file) == 0 ? steps * kEventsAStep + 1 : 0;
}

double parse_seconds(const std::string& path) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const double parsed = parse_here(path);
    const ssize_t written = write(ends[1], &parsed, sizeof parsed);
    _exit(written == sizeof parsed ? 0 : 1);
  }
  close(ends[1]);
  double parsed = -1;
  if (read(ends[0], &parsed, sizeof parsed) != sizeof parsed) parsed = -1;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return parsed;
}

SummaryUse summarize(const std::string& path) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string output = path + ".summary";
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::string command = WEFT_COMMAND;
  std::string verb = "summary";
  std::string file = path;
  char* arguments[] = {command.data(), verb.data(), file.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, WEFT_COMMAND, &actions, nullptr,
                                arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  SummaryUse use;
  int status = 0;
  rusage usage{};
  if (error != 0 || wait4(child, &status, 0, &usage) != child) return use;
  std::error_code unreadable;
  const std::uintmax_t shown = std::filesystem::file_size(output, unreadable);
  std::filesystem::remove(output);
  // A table, not a line that says there is nothing to show.
  constexpr std::uintmax_t kTableBytes = 200;
  use.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !unreadable &&
           shown > kTableBytes;
  use.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  use.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return use;
}

}  // namespace weft::bench
