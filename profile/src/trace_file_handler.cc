// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>

#include "weft/profile/scheduled_profiler.h"

namespace weft {
namespace {

std::string this_worker() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) return "unknown_host";
  return std::string(host.data()) + "_" + std::to_string(getpid());
}

}  // namespace

OnTraceReady trace_file_handler(std::string directory, std::string worker,
                                TraceFileForm form) {
  return [=](const ProfiledWindow& window) -> Result<void> {
    std::error_code failed;
    std::filesystem::create_directories(directory, failed);
    if (failed)
      return Error{ErrorCode::kIo, "cannot make the directory \"" + directory +
                                       "\": " + failed.message()};
    const auto since_1970 =
        std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::system_clock::now().time_since_epoch())
            .count();
    const std::string path =
        directory + "/" + (worker.empty() ? this_worker() : worker) + "." +
        std::to_string(since_1970) + ".pt.trace.json" +
        (form == TraceFileForm::kGzip ? ".gz" : "");
    return window.result->events().export_chrome_trace(path);
  };
}

}  // namespace weft
