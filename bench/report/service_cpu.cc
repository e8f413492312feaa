// SPDX-License-Identifier: Apache-2.0
#include "service_cpu.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace weft::bench {
namespace {

std::string line_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::uint64_t voluntary_switches(const std::filesystem::path& task) {
  std::ifstream file(task / "status");
  std::string word;
  while (file >> word)
    if (word == "voluntary_ctxt_switches:") {
      std::uint64_t count = 0;
      file >> count;
      return count;
    }
  return 0;
}

}  // namespace

ServiceUse service_use() {
  ServiceUse use;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string name = line_of(task.path() / "comm");
    if (name != "weft-drain" && name != "weft-help") continue;
    std::ifstream schedstat(task.path() / "schedstat");
    std::uint64_t cpu = 0;
    std::uint64_t delay = 0;
    schedstat >> cpu >> delay;
    if (name == "weft-drain") {
      use.drainer_cpu_ns += cpu;
      use.drainer_delay_ns += delay;
    } else {
      use.helper_cpu_ns += cpu;
    }
    use.wake_ups += voluntary_switches(task.path());
  }
  return use;
}

std::uint64_t own_cpu_ns() {
  std::ifstream schedstat("/proc/thread-self/schedstat");
  std::uint64_t cpu = 0;
  schedstat >> cpu;
  return cpu;
}

ServiceUse operator-(const ServiceUse& a, const ServiceUse& b) {
  return {a.drainer_cpu_ns - b.drainer_cpu_ns,
          a.drainer_delay_ns - b.drainer_delay_ns,
          a.helper_cpu_ns - b.helper_cpu_ns, a.wake_ups - b.wake_ups};
}

}  // namespace weft::bench
