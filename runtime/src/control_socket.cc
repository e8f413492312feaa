// SPDX-License-Identifier: Apache-2.0
#include "control_socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "control_commands.h"
#include "immortal.h"
#include "service_thread.h"

namespace weft {
namespace {

constexpr std::size_t kMaxRequest = 4096;
constexpr int kPatienceMs = 2000;  // for a client that does not go on
constexpr auto kEndTimeout = std::chrono::milliseconds(20);

struct Server {
  ServiceThread thread;
  std::string path;
};

Server& server() {
  static Immortal<Server> one;
  return *one;
}

// Apart, so that a forked child can close it.
std::atomic<int> listener{-1};

Error system_error(const std::string& path, const char* what) {
  return {ErrorCode::kIo,
          "control socket " + path + ": " + what + ": " + strerror(errno)};
}

// The folder of a default place: ours alone, and no link to somewhere else.
Result<void> prepare_folder(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error(path, "its folder cannot be made");
  struct stat is {};
  if (lstat(folder.c_str(), &is) != 0)
    return system_error(path, "its folder cannot be looked at");
  if (!S_ISDIR(is.st_mode) || is.st_uid != geteuid() ||
      (is.st_mode & 022) != 0)
    return Error{ErrorCode::kIo, "control socket " + path + ": " + folder +
                                     " is not a folder of this user alone"};
  return {};
}

bool somebody_serves(const sockaddr_un& address) {
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return true;
  const bool serves =
      connect(probe, reinterpret_cast<const sockaddr*>(&address),
              sizeof address) == 0;
  close(probe);
  return serves;
}

Result<int> listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{ErrorCode::kInvalidArgument,
                 "control socket " + path + ": longer than " +
                     std::to_string(sizeof address.sun_path - 1) + " bytes"};
  memcpy(address.sun_path, path.data(), path.size());
  const int file =
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return system_error(path, "socket");
  const auto bind_it = [&] {
    return bind(file, reinterpret_cast<const sockaddr*>(&address),
                sizeof address) == 0;
  };
  bool bound = bind_it();
  if (!bound && errno == EADDRINUSE) {
    if (somebody_serves(address)) {
      close(file);
      return Error{ErrorCode::kBusy,
                   "control socket " + path + ": another process serves it"};
    }
    struct stat is {};
    if (lstat(path.c_str(), &is) == 0 && S_ISSOCK(is.st_mode))
      unlink(path.c_str());
    bound = bind_it();
  }
  // Between bind and chmod others may connect; they are refused by who they are.
  if (!bound || chmod(path.c_str(), 0600) != 0 || listen(file, 8) != 0) {
    const Error error = system_error(path, "it cannot be made");
    close(file);
    return error;
  }
  return file;
}

bool may_ask(int connection) {
  ucred who{};
  socklen_t size = sizeof who;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
         (who.uid == geteuid() || who.uid == 0);
}

bool ready(int file, short events) {
  pollfd one{file, events, 0};
  return poll(&one, 1, kPatienceMs) > 0;
}

// The first line, without its newline. False: none came, or a longer one.
bool read_line(int connection, std::string* line) {
  char buffer[512];
  while (line->size() <= kMaxRequest) {
    const ssize_t size =
        ready(connection, POLLIN)
            ? recv(connection, buffer, sizeof buffer, MSG_DONTWAIT)
            : 0;
    if (size <= 0) return false;
    line->append(buffer, static_cast<std::size_t>(size));
    const std::size_t end = line->find('\n');
    if (end == std::string::npos) continue;
    line->resize(end);
    return true;
  }
  return false;
}

void write_all(int connection, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ready(connection, POLLOUT)
                             ? send(connection, text.data(), text.size(),
                                    MSG_DONTWAIT | MSG_NOSIGNAL)
                             : 0;
    if (size <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
}

void serve(int connection) {
  std::string line;
  if (!may_ask(connection)) {
    write_all(connection,
              "error: only the process's own user and root are answered\n");
  } else if (!read_line(connection, &line)) {
    write_all(connection, "error: a request is one line of at most " +
                              std::to_string(kMaxRequest) + " bytes\n");
  } else {
    write_all(connection, answer_control(line));
  }
}

void serve_until_closed(int file) {
  for (;;) {
    pollfd one{file, POLLIN, 0};
    poll(&one, 1, -1);
    const int connection = accept4(file, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno == EINVAL) break;  // shut down
      if (errno == EMFILE || errno == ENFILE)
        poll(nullptr, 0, 100);  // the program has no descriptor to spare now
      continue;
    }
    serve(connection);
    close(connection);
  }
  close(file);
}

}  // namespace

std::string control_socket_path(unsigned uid, int pid) {
  const std::string run = "/run/user/" + std::to_string(uid);
  const std::string name = std::to_string(pid) + ".sock";
  if (access(run.c_str(), F_OK) == 0) return run + "/weft/" + name;
  return "/tmp/weft-" + std::to_string(uid) + "/" + name;
}

Result<void> open_control_socket(const std::string& wanted) {
  const bool usual = wanted == "on" || wanted == "1";
  const std::string path =
      usual ? control_socket_path(geteuid(), getpid()) : wanted;
  if (listener.load(std::memory_order_relaxed) >= 0)
    return Error{ErrorCode::kBusy, "control socket " + path + ": " +
                                       server().path + " is served already"};
  if (usual)
    if (Result<void> prepared = prepare_folder(path); !prepared.ok())
      return prepared;
  const Result<int> file = listen_at(path);
  if (!file.ok()) return file.error();
  if (Result<void> started = server().thread.start(
          "weft-ctl", [file = *file] { serve_until_closed(file); });
      !started.ok()) {
    close(*file);
    unlink(path.c_str());
    return started;
  }
  server().path = path;
  listener.store(*file, std::memory_order_relaxed);
  return {};
}

void forget_control_socket() noexcept {
  const int file = listener.exchange(-1, std::memory_order_relaxed);
  if (file >= 0) close(file);
}

void close_control_socket() {
  const int file = listener.exchange(-1, std::memory_order_relaxed);
  if (file < 0) return;
  unlink(server().path.c_str());
  ::shutdown(file, SHUT_RDWR);
  server().thread.join(kEndTimeout);
}

}  // namespace weft
