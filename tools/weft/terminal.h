// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_TERMINAL_H_
#define WEFT_TOOLS_WEFT_TERMINAL_H_

// Where the command speaks: results on standard output, everything else on
// standard error, progress only to a person.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::tools {

// What the process returns to its shell.
enum class ExitCode : int {
  kDone = 0,
  kProblems = 1,  // the file has problems, or the work broke off
  kUnusable = 2,  // wrong arguments, or a file that cannot be read at all
};

// Writes all of `text` to standard output. A reader that has gone away, like
// `head`, is no failure; a full disk is, and is reported.
ExitCode print(std::string_view text);

// "weft: TEXT" as a line on standard error, free of control characters.
void complain(std::string_view text);

// Columns of standard output: of the terminal, or 100.
std::size_t output_width();

// A line on standard error that shows how far long work has come. Nothing
// unless that is a terminal, and nothing in the first half second.
class Progress {
 public:
  explicit Progress(std::string_view what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Call it often: it looks at the clock every 2^16th time only. `progress()`
  // returns a fraction of 1.
  template <class F>
  void step(const F& progress) {
    if ((++steps_ & 0xffff) == 0 && is_shown_) show(progress());
  }

 private:
  void show(double fraction);

  std::string what_;
  bool is_shown_;
  bool is_dirty_ = false;
  std::uint64_t steps_ = 0;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_TERMINAL_H_
