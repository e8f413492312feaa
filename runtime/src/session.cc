// SPDX-License-Identifier: Apache-2.0
#include "weft/session.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <thread>

#include "control_socket.h"
#include "immortal.h"
#include "init_config.h"
#include "message.h"
#include "null_exporter.h"
#include "process_info.h"
#include "runtime.h"
#include "session_control.h"
#include "snapshot_request.h"
#include "thread_exit.h"
#include "weft/internal/definitions.h"
#include "weft/status.h"
#include "weft/subscription.h"
#include "weft/version.h"

namespace weft {
namespace {

using std::chrono::milliseconds;

// How long stop() waits for a thread in the middle of a record. Only one that
// was descheduled or stopped right there takes longer than some ns.
constexpr auto kRecordTimeout = milliseconds(100);
// A pass takes well under a millisecond. Only a stopped drainer needs longer.
constexpr milliseconds kDrainerTimeout{10'000};

// What control calls keep: who is subscribed. One mutex for all of them; no
// record ever takes it.
struct Control {
  std::mutex mutex;
  std::vector<std::shared_ptr<SubscriptionState>> active;
  std::shared_ptr<SubscriptionState> session;  // init's; null: off
  std::shared_ptr<LiveFigures> live;           // beside it; null: off
  std::shared_ptr<SubscriptionState> live_subscription;
  bool paused = false;
  std::string output;
  std::uint64_t next_id = 1;
  unsigned observers = 0;  // of calls
};

Control& control() {
  static Immortal<Control> all;
  return *all;
}

// In the child: nothing of the parent's runs here, and no lock may be trusted.
void forget_parent() {
  Runtime::forget_after_fork();
  forget_control_socket();
  SiteList::instance().turn_off_after_fork();
  // Ids go on, so that a copy of a parent's Subscription ends nothing here.
  const std::uint64_t next_id = control().next_id;
  new (&control()) Control();
  control().next_id = next_id;
}

[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, forget_parent);

void turn_sites(const Control& all) {
  auto wanted = std::make_unique<SiteSwitch>();
  const Runtime* runtime = Runtime::instance();
  for (const auto& subscription : all.active) {
    if (all.paused && (subscription == all.session ||
                       subscription == all.live_subscription))
      continue;
    wanted->on = true;
    wanted->filters.push_back(subscription->switch_filter);
  }
  wanted->slow_clock =
      runtime != nullptr && runtime->slow_clock.load(std::memory_order_relaxed);
  if (runtime != nullptr)
    const_cast<Runtime*>(runtime)->recording.store(wanted->on,
                                                   std::memory_order_relaxed);
  wanted->calls_observed = all.observers != 0;
  SiteList::instance().turn(std::move(wanted));
}

Result<void> order(Runtime& runtime, Command::Kind kind,
                   const std::shared_ptr<SubscriptionState>& subscription,
                   CategoryFilter filter = {},
                   milliseconds timeout = kDrainerTimeout) {
  Command command;
  command.kind = kind;
  command.subscription = subscription;
  command.filter = std::move(filter);
  command.not_before = runtime.now();
  command.done = std::make_shared<Completion>();
  const std::shared_ptr<Completion> done = command.done;
  runtime.drainer->order(std::move(command));
  if (done->wait_for(timeout)) return {};
  return Error{ErrorCode::kTimeout, "the drainer does not answer"};
}

// With the mutex held, as all below.
Result<void> enter(Control& all, Runtime& runtime,
                   const std::shared_ptr<SubscriptionState>& subscription) {
  subscription->id = all.next_id++;
  subscription->process = describe_process(*runtime.clock);
  subscription->info.filter = subscription->filter.text();
  subscription->info.filtered = !subscription->filter.passes_everything();
  subscription->switch_filter = subscription->filter;
  runtime.helper->add(subscription);
  if (Result<void> begun = order(runtime, Command::Kind::kAdd, subscription);
      !begun.ok())
    return begun;
  all.active.push_back(subscription);
  return {};
}

Result<void> leave(Control& all, Runtime& runtime,
                   std::shared_ptr<SubscriptionState> subscription,
                   std::string reason, milliseconds timeout) {
  const Result<void> stopped =
      order(runtime, Command::Kind::kStop, subscription);
  subscription->end_reason = std::move(reason);
  std::erase(all.active, subscription);
  if (all.session == subscription) all.session = nullptr;
  turn_sites(all);
  wait_for_records(runtime);
  // It is told in any case: it may come to life later.
  Result<void> result = order(runtime, Command::Kind::kRemove, subscription, {},
                              stopped.ok() ? kDrainerTimeout : milliseconds(0));
  if (result.ok() && !subscription->written.wait_for(timeout))
    result = Error{ErrorCode::kTimeout,
                   "the output of \"" + subscription->info.name +
                       "\" was not complete after " +
                       std::to_string(timeout.count()) + " ms"};
  if (all.active.empty())
    runtime.retire(result.ok() ? kDrainerTimeout : milliseconds(100));
  return result;
}

Error not_running() {
  return {ErrorCode::kNotRunning, "weft was not initialised"};
}

Result<std::shared_ptr<Exporter>> open_exporter(const InitOptions& options) {
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
  output.flight_recorder = options.mode == Mode::kFlightRecorder;
  std::unique_ptr<Exporter> exporter;
  Error error;
  weft_open_output(output, &exporter, &error);
  if (exporter == nullptr) return error;
  return std::shared_ptr<Exporter>(std::move(exporter));
}

// Live figures are an extra: a session without them is better than none.
void start_live(Control& all, Runtime& runtime, const FinalConfig& config) {
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

Result<void> init_locked(Control& all, const InitOptions& options,
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

Result<void> shutdown_locked(Control& all, milliseconds timeout,
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
  Control& all = control();
  std::unique_lock lock(all.mutex, std::try_to_lock);
  // Held by a thread that will never run again: nothing can be done for it.
  if (!lock.owns_lock() || all.session == nullptr) return;
  const Result<void> done =
      shutdown_locked(all, std::chrono::seconds(1), "exit");
  if (!done.ok()) say_once(done.error().message);
}

}  // namespace

// A thread in a record has set `busy`, though perhaps not yet for others to
// see: the barrier makes each running thread's stores visible. A thread that
// sets it later also takes its tick later.
void wait_for_records(Runtime& runtime) {
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
    std::this_thread::sleep_for(milliseconds(1));  // store buffers drain in ns
  const auto deadline = std::chrono::steady_clock::now() + kRecordTimeout;
  for (std::uint32_t slot = 0; slot < runtime.threads.places(); ++slot)
    while (runtime.threads.in_record(slot) &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
}

Result<void> with_session(
    const std::function<void(const RunningSession&)>& use) {
  Control& all = control();
  const std::scoped_lock lock(all.mutex);
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || all.session == nullptr) return not_running();
  use({runtime, all.session, all.output, all.live});
  return {};
}

bool try_with_session(const std::function<void(const RunningSession&)>& use) {
  Control& all = control();
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  Runtime* runtime = Runtime::instance();
  if (runtime != nullptr && all.session != nullptr)
    use({runtime, all.session, all.output, all.live});
  return true;
}

Result<void> init(const InitOptions& options) {
  Control& all = control();
  const std::scoped_lock lock(all.mutex);
  Result<void> result = init_locked(all, options, process_environment());
  if (!result.ok()) say_once(result.error().message);
  return result;
}

Result<void> restart(const InitOptions& options) {
  Control& all = control();
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
  Control& all = control();
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
  Control& all = control();
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
  Control& all = control();
  const std::scoped_lock lock(all.mutex);
  return shutdown_locked(all, timeout, "shutdown");
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
  Control& all = control();
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

RuntimeStatus status() {
  RuntimeStatus status;
  Control& all = control();
  const std::scoped_lock lock(all.mutex);
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr) return status;
  const auto figure = [](const std::atomic<std::uint64_t>& value) {
    return value.load(std::memory_order_relaxed);  // each its own
  };
  if (all.session != nullptr) {
    status.state = all.paused ? RuntimeState::kPaused : RuntimeState::kRecording;
    status.output = all.output;
    const ExporterStatus exporter = all.session->exporter->status();
    status.output_error = exporter.error;
    status.bytes_written = exporter.bytes_written;
    status.bytes_pending = exporter.bytes_pending;
    status.delivered = figure(all.session->delivered);
    for (std::size_t i = 0; i < kDropReasons; ++i)
      status.dropped[i] = figure(all.session->dropped[i]) +
                          figure(runtime->unplaced[i]) -
                          all.session->dropped_before[i];
    status.dropped[static_cast<std::size_t>(DropReason::kRingFull)] +=
        runtime->drainer->refused();
  }
  status.subscriptions = static_cast<std::uint32_t>(all.active.size());
  status.strings = runtime->strings.end();
  status.other_names = runtime->strings.refused();
  status.sites = runtime->sites.end() - 1;
  if (!runtime->ready.load(std::memory_order_acquire)) return status;
  status.threads_live = runtime->threads.live();
  status.threads_seen = runtime->threads.seen();
  status.ring_bytes_used = runtime->stock.used_bytes();
  status.drain_passes = runtime->drainer->passes();
  status.drain_run_delay_ns = runtime->drainer->run_delay_ns();
  status.clock_corrections = runtime->drainer->clock_corrections();
  status.clock = runtime->clock->name();
  status.clock_reason = runtime->clock->reason();
  return status;
}

const char* version() noexcept { return WEFT_VERSION; }

Result<Subscription> subscribe(SubscriptionOptions options,
                               std::shared_ptr<Exporter> exporter) {
  Control& all = control();
  const std::scoped_lock lock(all.mutex);
  Result<CategoryFilter> filter = CategoryFilter::parse(options.categories);
  if (!filter.ok()) return filter.error();
  if (exporter == nullptr)
    return Error{ErrorCode::kInvalidArgument, "a subscription needs an exporter"};
  Result<FinalConfig> config = finalize(InitOptions(), process_environment());
  if (!config.ok()) return config.error();
  Runtime* runtime = Runtime::create();
  if (runtime == nullptr)
    return Error{ErrorCode::kOutOfMemory, "no address space for the tables"};
  if (Result<void> ready = runtime->prepare(*config); !ready.ok())
    return ready.error();
  auto state = std::make_shared<SubscriptionState>();
  state->info.name = std::move(options.name);
  state->filter = std::move(*filter);
  state->limits = std::move(options.limits);
  state->exporter = std::move(exporter);
  if (Result<void> entered = enter(all, *runtime, state); !entered.ok())
    return entered.error();
  turn_sites(all);
  Subscription subscription;
  subscription.id_ = state->id;
  return subscription;
}

Subscription::Subscription(Subscription&& other) noexcept
    : id_(std::exchange(other.id_, 0)) {}

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this != &other) {
    (void)stop();
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

Subscription::~Subscription() { (void)stop(); }

Result<SubscriptionEnd> Subscription::stop(milliseconds timeout) {
  // Also what a moved-from one does, perhaps while subscribe() holds the mutex.
  if (id_ == 0)
    return Error{ErrorCode::kNotRunning, "the subscription is not running"};
  Control& all = control();
  const std::scoped_lock lock(all.mutex);
  Runtime* runtime = Runtime::instance();
  const auto found = std::find_if(
      all.active.begin(), all.active.end(),
      [this](const auto& subscription) { return subscription->id == id_; });
  id_ = 0;
  if (runtime == nullptr || found == all.active.end())
    return Error{ErrorCode::kNotRunning, "the subscription is not running"};
  const std::shared_ptr<SubscriptionState> state = *found;
  if (Result<void> left = leave(all, *runtime, state, "stop", timeout);
      !left.ok())
    return left.error();
  return state->end;
}

namespace internal {

std::uint8_t settle_site(SiteData& site) noexcept {
  // Relaxed: a switch.
  const std::uint8_t now = site.state.load(std::memory_order_relaxed);
  if (now != kSiteUnregistered && now != kSiteRegistering) return now;
  return SiteList::instance().add(site);
}

void observe_calls(bool observed) {
  Control& all = control();
  const std::scoped_lock lock(all.mutex);
  if (observed) {
    ++all.observers;
  } else if (all.observers != 0) {  // counted before a fork, perhaps
    --all.observers;
  }
  turn_sites(all);
}

std::string_view text_of(StringId number) noexcept {
  std::string_view text;
  if (const Runtime* runtime = Runtime::instance())
    runtime->strings.text(number, &text);
  return text;
}

bool describe_site(SiteId number, SiteInfo* info) noexcept {
  const Runtime* runtime = Runtime::instance();
  return runtime != nullptr && runtime->sites.info(number, info);
}

void unlink_module(ModuleAnchorData& module) noexcept {
  SiteList::instance().unlink(module);
}

}  // namespace internal

}  // namespace weft
