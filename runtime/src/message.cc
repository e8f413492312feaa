// SPDX-License-Identifier: Apache-2.0
#include "message.h"

#include <unistd.h>

#include <mutex>
#include <set>
#include <string>

#include "immortal.h"

namespace weft {
namespace {

constexpr std::size_t kMaxDifferent = 256;  // after that many: silence

struct Messages {
  std::mutex mutex;
  std::function<void(std::string_view)> handler;
  bool quiet = false;
  std::set<std::string, std::less<>> said;
};

Messages& messages() {
  static Immortal<Messages> all;
  return *all;
}

}  // namespace

void set_message_handler(std::function<void(std::string_view)> handler,
                         bool quiet) {
  const std::scoped_lock lock(messages().mutex);
  messages().handler = std::move(handler);
  messages().quiet = quiet;
}

void say_once(std::string_view message) {
  std::function<void(std::string_view)> handler;
  {
    const std::scoped_lock lock(messages().mutex);
    Messages& all = messages();
    if (all.quiet || all.said.size() >= kMaxDifferent ||
        !all.said.emplace(message).second)
      return;
    handler = all.handler;
  }
  if (handler) {
    handler(message);
    return;
  }
  std::string line = "weft: ";
  line += message;
  line += '\n';
  [[maybe_unused]] const ssize_t ignored =
      write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace weft
