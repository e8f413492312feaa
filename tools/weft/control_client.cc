// SPDX-License-Identifier: Apache-2.0
#include "control_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weft::tools {
namespace {

constexpr std::size_t kMaxAnswer = std::size_t{64} << 20;
constexpr int kPatienceSeconds = 60;

class Connection {
 public:
  Connection() : file_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{kPatienceSeconds, 0};
    setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(file_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(file_); }

  // 0 or an errno.
  int open(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
    memcpy(address.sun_path, path.data(), path.size());
    return connect(file_, reinterpret_cast<const sockaddr*>(&address),
                   sizeof address) == 0
               ? 0
               : errno;
  }
  bool say(const std::string& text) {
    return send(file_, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  std::string hear() {
    std::string text;
    char buffer[4096];
    while (text.size() < kMaxAnswer) {
      const ssize_t size = recv(file_, buffer, sizeof buffer, 0);
      if (size <= 0) break;
      text.append(buffer, static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int file_;
};

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

// Where a process may have its socket: it belongs to the user it runs as.
std::vector<std::string> places_of(const std::string& target) {
  if (!is_number(target)) return {target};
  struct stat is {};
  if (stat(("/proc/" + target).c_str(), &is) != 0) return {};
  const std::string uid = std::to_string(is.st_uid);
  return {"/run/user/" + uid + "/weft/" + target + ".sock",
          "/tmp/weft-" + uid + "/" + target + ".sock"};
}

}  // namespace

Result<std::string> ask_process(const std::string& target,
                                const std::string& request) {
  const std::vector<std::string> places = places_of(target);
  if (places.empty())
    return Error{ErrorCode::kIo, "there is no process " + target};
  std::string tried;
  for (const std::string& place : places) {
    Connection connection;
    const int fault = connection.open(place);
    if (fault != 0) {
      tried += "\n  " + place + ": " + strerror(fault);
      continue;
    }
    if (!connection.say(request + "\n"))
      return Error{ErrorCode::kIo, place + ": " + strerror(errno)};
    const std::string answer = connection.hear();
    if (answer.compare(0, 3, "ok\n") == 0) return answer.substr(3);
    if (answer.compare(0, 7, "error: ") == 0)
      return Error{ErrorCode::kBusy, answer.substr(7, answer.find('\n') - 7)};
    return Error{ErrorCode::kIo, place + ": no answer of weft's"};
  }
  return Error{ErrorCode::kIo,
               target + " does not listen; a program does with WEFT_CONTROL=on "
                        "or InitOptions::control. Tried:" + tried};
}

}  // namespace weft::tools
