// SPDX-License-Identifier: Apache-2.0
#include "session_control.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "control_socket.h"
#include "immortal.h"
#include "process_info.h"

namespace weft {
namespace {

using std::chrono::milliseconds;

// How long stop() waits for a thread in the middle of a record. Only one that
// was descheduled or stopped right there takes longer than some ns.
constexpr auto kRecordTimeout = milliseconds(100);

// In the child: nothing of the parent's runs here, and no lock may be trusted.
void forget_parent() {
  Runtime::forget_after_fork();
  forget_control_socket();
  SiteList::instance().turn_off_after_fork();
  // Ids go on, so that a copy of a parent's Subscription ends nothing here.
  const std::uint64_t next_id = session_control().next_id;
  new (&session_control()) SessionControl();
  session_control().next_id = next_id;
}

[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, forget_parent);

}  // namespace

SessionControl& session_control() {
  static Immortal<SessionControl> all;
  return *all;
}

void turn_sites(const SessionControl& all) {
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
                   CategoryFilter filter,
                   milliseconds timeout) {
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

Result<void> enter(SessionControl& all, Runtime& runtime,
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

Result<void> leave(SessionControl& all, Runtime& runtime,
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
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || all.session == nullptr) return not_running();
  use({runtime, all.session, all.output, all.live});
  return {};
}

bool try_with_session(const std::function<void(const RunningSession&)>& use) {
  SessionControl& all = session_control();
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  Runtime* runtime = Runtime::instance();
  if (runtime != nullptr && all.session != nullptr)
    use({runtime, all.session, all.output, all.live});
  return true;
}

Error not_running() {
  return {ErrorCode::kNotRunning, "weft was not initialised"};
}

namespace internal {

void observe_calls(bool observed) {
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  if (observed) {
    ++all.observers;
  } else if (all.observers != 0) {  // counted before a fork, perhaps
    --all.observers;
  }
  turn_sites(all);
}

}  // namespace internal

}  // namespace weft
