// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/thread_local_state.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "call_observers.h"
#include "coverage_marks.h"

namespace weft {

using profile::InheritedState;

struct ThreadLocalStateSnapshot::State {
  InheritedState inherited;
  RequestId request;
};

struct ThreadLocalStateGuard::Previous {
  InheritedState inherited;
  std::optional<Request> request;
};

namespace {

bool has(const InheritedState& state, const profile::SharedSession* session) {
  return std::any_of(
      state.sessions.begin(), state.sessions.end(),
      [&](const auto& other) { return other.get() == session; });
}

// Sessions that one of two states has and the other has not.
void mark_change(const InheritedState& from, const InheritedState& to) {
  for (const auto& session : from.sessions)
    if (!has(to, session.get()) && session->running.load())
      profile::mark_coverage(session->number, false);
  for (const auto& session : to.sessions)
    if (!has(from, session.get()) && session->running.load())
      profile::mark_coverage(session->number, true);
}

}  // namespace

ThreadLocalStateSnapshot::ThreadLocalStateSnapshot() {
  auto state = std::make_shared<State>();
  if (const auto* thread = profile::thread_observers())
    state->inherited = thread->inherited;
  std::erase_if(state->inherited.sessions, [](const auto& session) {
    return session->coverage == ThreadCoverage::kThisThread;
  });
  state->request = Request::current();
  state_ = std::move(state);
}

ThreadLocalStateGuard::ThreadLocalStateGuard(
    const ThreadLocalStateSnapshot& snapshot)
    : previous_(std::make_unique<Previous>()) {
  profile::ThreadObservers* thread = profile::thread_observers();
  if (thread == nullptr) return;
  const ThreadLocalStateSnapshot::State& state = *snapshot.state_;
  previous_->inherited =
      std::exchange(thread->inherited, state.inherited);
  mark_change(previous_->inherited, thread->inherited);
  if (!(state.request == Request::current()))
    previous_->request.emplace(state.request);
}

ThreadLocalStateGuard::~ThreadLocalStateGuard() {
  profile::ThreadObservers* thread = profile::thread_observers();
  if (thread == nullptr) return;
  previous_->request.reset();
  mark_change(thread->inherited, previous_->inherited);
  thread->inherited = std::move(previous_->inherited);
}

}  // namespace weft
