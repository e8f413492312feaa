// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "quantity_text.h"

namespace weft::tools {
namespace {

constexpr std::size_t kDefaultWidth = 100;
constexpr std::size_t kLeastWidth = 80;

}  // namespace

ExitCode print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return ExitCode::kDone;
    } else if (errno != EINTR) {
      complain(fmt::format("standard output: {}", std::strerror(errno)));
      return ExitCode::kProblems;
    }
  }
  return ExitCode::kDone;
}

void complain(std::string_view text) {
  fmt::print(stderr, "weft: {}\n", printable(text));
}

std::size_t output_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 ||
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return kDefaultWidth;
  return std::max<std::size_t>(size.ws_col, kLeastWidth);
}

Progress::Progress(std::string_view what)
    : what_(what),
      is_shown_(isatty(STDERR_FILENO) != 0),
      next_(std::chrono::steady_clock::now() +
            std::chrono::milliseconds(500)) {}

Progress::~Progress() {
  if (is_dirty_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(double fraction) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  is_dirty_ = true;
  fmt::print(stderr, "\r{} {:3.0f}%", what_, 100 * fraction);
  std::fflush(stderr);
}

}  // namespace weft::tools
