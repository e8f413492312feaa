// SPDX-License-Identifier: Apache-2.0
#include "session_coverage.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "weft/profile/profiler.h"

namespace weft {
namespace profile {
namespace {

std::atomic<std::uint64_t> next_number{1};
std::atomic<unsigned> running{0};
std::atomic<std::uint64_t> of_all_threads{0};  // its number; 0: none

// No session of the parent runs in a child.
[[maybe_unused]] const int fork_handler = pthread_atfork(
    nullptr, nullptr, [] {
      running.store(0, std::memory_order_relaxed);
      of_all_threads.store(0, std::memory_order_relaxed);
    });

Error busy(const SharedSession& session, std::uint64_t other,
           const std::string& whose) {
  return {ErrorCode::kBusy,
          "profiler session " + std::to_string(session.number) +
              " cannot start: session " + std::to_string(other) + " of " +
              whose + " is running"};
}

}  // namespace

std::uint64_t next_session_number() noexcept {
  return next_number.fetch_add(1, std::memory_order_relaxed);
}

Result<void> claim_coverage(const std::shared_ptr<SharedSession>& session) {
  if (session->coverage == ThreadCoverage::kAllThreads) {
    std::uint64_t none = 0;
    if (!of_all_threads.compare_exchange_strong(none, session->number))
      return busy(*session, none, "all threads");
    add_process_wants(session->wants);
  } else {
    ThreadObservers* thread = thread_observers();
    if (thread == nullptr)
      return Error{ErrorCode::kNotRunning, "the calling thread is ending"};
    auto& sessions = thread->inherited.sessions;
    // A child has those of its parent's thread.
    std::erase_if(sessions, [](const auto& other) {
      return !other->running.load() || other->process != getpid();
    });
    if (!sessions.empty())
      return busy(*session, sessions.front()->number, "this thread");
    sessions.push_back(session);
  }
  session->process = getpid();
  running.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void give_up_coverage(SharedSession& session) noexcept {
  if (!session.running.exchange(false) || session.process != getpid()) return;
  running.fetch_sub(1, std::memory_order_relaxed);
  if (session.coverage != ThreadCoverage::kAllThreads) return;
  remove_process_wants(session.wants);
  std::uint64_t number = session.number;
  of_all_threads.compare_exchange_strong(number, 0);
}

}  // namespace profile

bool profiling() noexcept {
  return profile::running.load(std::memory_order_relaxed) != 0;
}

}  // namespace weft
