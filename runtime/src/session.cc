// SPDX-License-Identifier: Apache-2.0
#include "weft/session.h"

#include <unistd.h>

#include <mutex>
#include <utility>

#include "control_socket.h"
#include "init_config.h"
#include "message.h"
#include "null_exporter.h"
#include "session_control.h"
#include "snapshot_request.h"
#include "thread_exit.h"

namespace weft {
namespace {

using std::chrono::milliseconds;

// "dir/name.weft" with the number of this process before the suffix.
std::string path_of_this_process(const std::string& path) {
  for (const std::string_view suffix : {".weft", ".json", ".json.gz"})
    if (std::string_view(path).ends_with(suffix))
      return path.substr(0, path.size() - suffix.size()) + "." +
             std::to_string(getpid()) + std::string(suffix);
  return path + "." + std::to_string(getpid());
}

// One variable of the environment may name the output of many processes: those
// that find it taken write into a file of their own, which `options` then names.
Result<std::shared_ptr<Exporter>> open_exporter(InitOptions& options) {
  if (weft_open_output == nullptr)
    return Error{ErrorCode::kNoExporter,
                 "output \"" + options.output +
                     "\": this program has no writer for files; link it with "
                     "weft::export (or weft::weft)"};
  OutputOptions output;
  output.path = options.output;
  output.block_pool_bytes = options.block_pool_bytes;
  output.flush_after_ns = std::chrono::nanoseconds(options.flush_after).count();
  output.overwrite = options.overwrite;
  output.rotation = options.rotation;
  output.flight_recorder = options.mode == Mode::kFlightRecorder;
  std::unique_ptr<Exporter> exporter;
  Error error;
  weft_open_output(output, &exporter, &error);
  if (exporter == nullptr && error.code == ErrorCode::kBusy) {
    output.path = path_of_this_process(options.output);
    say_once(error.message + "; this one writes " + output.path);
    weft_open_output(output, &exporter, &error);
    options.output = output.path;
  }
  if (exporter == nullptr) return error;
  return std::shared_ptr<Exporter>(std::move(exporter));
}

// Live figures are an extra: a session without them is better than none.
void start_live(SessionControl& all, Runtime& runtime, const FinalConfig& config) {
  const bool recorder = config.options.mode == Mode::kFlightRecorder;
  all.live = LiveFigures::create(
      span_budgets(), [recorder](const std::string& what) {
        return !recorder || try_request_snapshot(what);
      });
  if (all.live == nullptr) {
    say_once("live figures: no memory for their counters");
    return;
  }
  auto subscription = std::make_shared<SubscriptionState>();
  subscription->info.name = "live figures";
  subscription->filter = config.filter;
  subscription->exporter = all.live;
  if (const Result<void> entered = enter(all, runtime, subscription);
      !entered.ok()) {
    say_once("live figures: " + entered.error().message);
    all.live = nullptr;
    return;
  }
  all.live_subscription = std::move(subscription);
}

Result<void> init_locked(SessionControl& all, const InitOptions& options,
                         const Environment& environment) {
  if (all.session != nullptr)
    return Error{ErrorCode::kBusy,
                 "already recording to \"" + all.output + "\""};
  Result<FinalConfig> config = finalize(options, environment);
  if (!config.ok()) return config.error();
  set_message_handler(config->options.on_message, config->quiet);
  std::shared_ptr<Exporter> exporter = make_null_exporter();
  if (!config->options.output.empty() ||
      config->options.mode == Mode::kFlightRecorder) {
    Result<std::shared_ptr<Exporter>> opened = open_exporter(config->options);
    if (!opened.ok()) return opened.error();
    exporter = std::move(*opened);
  }
  Runtime* runtime = Runtime::create();
  if (runtime == nullptr)
    return Error{ErrorCode::kOutOfMemory, "no address space for the tables"};
  if (Result<void> ready = runtime->prepare(*config); !ready.ok()) return ready;
  auto session = std::make_shared<SubscriptionState>();
  session->info.name = "default";
  session->filter = config->filter;
  session->limits = config->options.limits;
  session->exporter = std::move(exporter);
  if (!config->options.start) session->stop_tick = 0;
  if (Result<void> entered = enter(all, *runtime, session); !entered.ok())
    return entered;
  all.session = session;
  all.output = config->options.output;
  all.paused = !config->options.start;
  if (!config->options.control.empty())
    if (const Result<void> opened = open_control_socket(config->options.control);
        !opened.ok())
      say_once(opened.error().message);
  if (config->options.live) start_live(all, *runtime, *config);
  turn_sites(all);
  return {};
}

Result<void> shutdown_locked(SessionControl& all, milliseconds timeout,
                             std::string reason) {
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || all.session == nullptr) return not_running();
  close_control_socket();
  all.live = nullptr;
  if (const auto live = std::exchange(all.live_subscription, nullptr))
    (void)leave(all, *runtime, live, reason, timeout);
  return leave(all, *runtime, all.session, std::move(reason), timeout);
}

// Runs after the destructors of the program's statics and after its atexit
// functions, while weft's threads still live: what those recorded is written.
__attribute__((destructor)) void complete_at_exit() {
  SessionControl& all = session_control();
  std::unique_lock lock(all.mutex, std::try_to_lock);
  // Held by a thread that will never run again: nothing can be done for it.
  if (!lock.owns_lock() || all.session == nullptr) return;
  const Result<void> done =
      shutdown_locked(all, std::chrono::seconds(1), "exit");
  if (!done.ok()) say_once(done.error().message);
}

}  // namespace

Result<void> init(const InitOptions& options) {
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  Result<void> result = init_locked(all, options, process_environment());
  if (!result.ok()) say_once(result.error().message);
  return result;
}

Result<void> restart(const InitOptions& options) {
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  if (all.session != nullptr) {
    const Result<void> ended =
        shutdown_locked(all, std::chrono::seconds(1), "restart");
    if (!ended.ok()) say_once(ended.error().message);
  }
  Result<void> result = init_locked(all, options, process_environment());
  if (!result.ok()) say_once(result.error().message);
  return result;
}

Result<void> init(std::string_view output) {
  InitOptions options;
  options.output = output;
  return init(options);
}

Result<void> init() { return init("%e.%p.weft"); }

Result<void> start() {
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || all.session == nullptr) return not_running();
  if (!all.paused)
    return Error{ErrorCode::kBusy,
                 "already recording to \"" + all.output + "\""};
  if (Result<void> resumed =
          order(*runtime, Command::Kind::kResume, all.session);
      !resumed.ok())
    return resumed;
  all.paused = false;
  turn_sites(all);
  return {};
}

Result<void> stop() {
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || all.session == nullptr || all.paused)
    return not_running();
  Result<void> stopped = order(*runtime, Command::Kind::kStop, all.session);
  all.paused = true;
  turn_sites(all);
  wait_for_records(*runtime);
  if (!stopped.ok()) return stopped;
  return order(*runtime, Command::Kind::kPause, all.session);
}

Result<void> shutdown(milliseconds timeout) {
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  return shutdown_locked(all, timeout, "shutdown");
}

Result<void> rotate() {
  Result<void> result;
  const Result<void> found = with_session([&](const RunningSession& session) {
    if (session.subscription->exporter->rotate())
      session.runtime->drainer->wake();
    else
      result = Error{ErrorCode::kInvalidArgument,
                     "\"" + session.output +
                         "\" is one file: rotation was not asked for"};
  });
  return found.ok() ? result : found;
}

Result<void> thread_init(std::size_t ring_bytes) {
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || !runtime->ready.load(std::memory_order_acquire))
    return not_running();
  Rung rung = Rung::kSmall;
  for (const Rung larger : {Rung::kMedium, Rung::kTop})
    if (runtime->stock.bytes_of(larger) <= ring_bytes) rung = larger;
  const internal::CurrentThread current =
      internal::current_thread(*runtime, rung);
  if (current.state == nullptr)
    return Error{ErrorCode::kLimit,
                 "no ring is left: " +
                     std::to_string(runtime->stock.used_bytes()) +
                     " bytes are in use by " +
                     std::to_string(runtime->threads.live()) + " threads"};
  internal::settle_in(*runtime, *current.state, rung);
  return {};
}

void set_thread_name(std::string_view name) {
  if (Runtime* runtime = Runtime::create())
    internal::name_thread(*runtime, name);
}

void set_metadata(std::string_view key, std::string_view value) {
  Runtime* runtime = Runtime::create();
  if (runtime == nullptr) return;
  if (!runtime->metadata.add(runtime->strings.intern(key),
                             runtime->strings.intern(value)))
    say_once("set_metadata: more than " +
             std::to_string(MetadataList::kMaxPairs) + " pairs");
}

Result<void> set_categories(std::string_view categories) {
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || all.session == nullptr) return not_running();
  Result<CategoryFilter> filter = CategoryFilter::parse(categories);
  if (!filter.ok()) return filter.error();
  // Wider first, narrower last: no record is missing that both filters want.
  all.session->switch_filter = *filter;
  Result<void> done =
      order(*runtime, Command::Kind::kFilter, all.session, *filter);
  turn_sites(all);
  return done;
}

}  // namespace weft
