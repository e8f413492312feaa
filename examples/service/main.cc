// SPDX-License-Identifier: Apache-2.0

// A small HTTP service over SQLite, instrumented with weft.
//
//   weft_service [--port N] [--workers N] [--trace FILE]
//
// Prints "listening on 127.0.0.1:PORT", serves until SIGTERM or SIGINT, then
// prints one line of JSON: what it served and what that cost. Traced when
// --trace or WEFT_OUT says where to; otherwise every site stays off.

#include <httplib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "compactor.h"
#include "item_cache.h"
#include "item_store.h"
#include "routes.h"
#include "weft/weft.h"
#include "worker_pool.h"
#include "write_queue.h"

namespace service {
namespace {

constexpr std::int64_t kItems = 10'000;
constexpr std::size_t kCachedItems = 1'000;
constexpr int kReadConnections = 2;
constexpr std::size_t kWriteQueueCapacity = 64;
constexpr std::chrono::milliseconds kCompactionPeriod{250};
// How long a client may hold a connection without a request; also what the
// shutdown waits at most for idle clients.
constexpr std::chrono::seconds kKeepAlive{1};
constexpr std::size_t kRequestsPerConnection = 1'000'000'000;

struct Options {
  int port = 0;  // 0: any free one
  int workers = 8;
  std::string trace;
};

int parse_number(std::string_view name, std::string_view text, int least,
                 int most) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most) {
    throw std::invalid_argument(
        std::string(name) + " takes a number from " + std::to_string(least) +
        " to " + std::to_string(most) + ", not \"" + std::string(text) + "\"");
  }
  return number;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) {
      throw std::invalid_argument("a value is missing after \"" +
                                  std::string(name) + "\"");
    }
    const std::string_view value = argv[i + 1];
    if (name == "--port") {
      options.port = parse_number(name, value, 0, 65535);
    } else if (name == "--workers") {
      options.workers = parse_number(name, value, 1, 256);
    } else if (name == "--trace") {
      options.trace = value;
    } else {
      throw std::invalid_argument("unknown option \"" + std::string(name) +
                                  "\"");
    }
  }
  return options;
}

// A folder that is gone with its content when this is.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "weft_service.XXXXXX")
            .string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("cannot make the folder " + name);
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

void begin_tracing(const Options& options) {
  if (options.trace.empty() && std::getenv("WEFT_OUT") == nullptr) return;
  weft::InitOptions init;
  init.output = options.trace;
  // A service that cannot be traced serves all the same; weft itself says on
  // standard error what is wrong.
  weft::init(init);
  weft::set_metadata("service", "items");
  weft::set_metadata("workers", std::to_string(options.workers));
}

// Processor time of the whole process, weft's own threads included.
std::chrono::microseconds cpu_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) +
           std::chrono::microseconds(value.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

void print_report(const Served& served, const weft::RuntimeStatus& traced,
                  std::chrono::microseconds cpu) {
  const auto count = [](const std::atomic<std::uint64_t>& value) {
    return static_cast<unsigned long long>(
        value.load(std::memory_order_relaxed));
  };
  std::printf(
      "{\"requests\":{\"GET /items\":%llu,\"PUT /items\":%llu,"
      "\"GET /search\":%llu},\"failed\":%llu,\"cpu_us\":%lld,"
      "\"records_delivered\":%llu,\"records_dropped\":%llu}\n",
      count(served.get_item), count(served.put_item), count(served.search),
      count(served.failed), static_cast<long long>(cpu.count()),
      static_cast<unsigned long long>(traced.delivered),
      static_cast<unsigned long long>(traced.total_dropped()));
}

// SIGTERM and SIGINT, held back from every thread and waited for by one.
sigset_t block_end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void serve(const Options& options) {
  // Before the first thread, which then inherits it.
  const sigset_t end_signals = block_end_signals();
  begin_tracing(options);
  weft::set_thread_name("main");

  const TemporaryFolder folder;
  ItemStore store(folder.path() / "items.db", kItems, kReadConnections);
  ItemCache cache(kCachedItems);
  WriteQueue writes(store, kWriteQueueCapacity);
  const Compactor compactor(store, kCompactionPeriod);
  Routes routes(store, cache, writes);

  httplib::Server server;
  server.new_task_queue = [&] { return new WorkerPool(options.workers); };
  server.set_tcp_nodelay(true);
  server.set_keep_alive_timeout(kKeepAlive.count());
  server.set_keep_alive_max_count(kRequestsPerConnection);
  routes.add_to(server);
  const int port =
      options.port != 0
          ? (server.bind_to_port("127.0.0.1", options.port) ? options.port : -1)
          : server.bind_to_any_port("127.0.0.1");
  if (port < 0) {
    throw std::runtime_error("cannot listen on port " +
                             std::to_string(options.port));
  }

  const std::chrono::microseconds cpu_before = cpu_time();
  std::thread acceptor([&] {
    weft::set_thread_name("acceptor");
    server.listen_after_bind();
  });
  // stop() is heard only by a server that runs already.
  while (!server.is_running()) std::this_thread::yield();
  std::printf("listening on 127.0.0.1:%d\n", port);
  std::fflush(stdout);

  int signal = 0;
  sigwait(&end_signals, &signal);
  server.stop();
  acceptor.join();
  // Between the two the accounts are final and not yet closed.
  weft::stop();
  const weft::RuntimeStatus traced = weft::status();
  weft::shutdown();
  print_report(routes.served(), traced, cpu_time() - cpu_before);
}

}  // namespace
}  // namespace service

int main(int argc, char** argv) {
  try {
    service::serve(service::parse_options(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weft_service: %s\n", error.what());
    return 1;
  }
  return 0;
}
