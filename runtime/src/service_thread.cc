// SPDX-License-Identifier: Apache-2.0
#include "service_thread.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <memory>
#include <string>

namespace weft {
namespace {

constexpr std::size_t kStackBytes = 512 << 10;

struct Start {
  const char* name;
  std::function<void()> body;
};

void* run(void* argument) {
  const std::unique_ptr<Start> start(static_cast<Start*>(argument));
  prctl(PR_SET_NAME, start->name);
  // Rests of 200 us must not be stretched by the default slack of 50 us.
  prctl(PR_SET_TIMERSLACK, 1000UL);
  cpu_set_t cpus;
  if (sched_getaffinity(getpid(), sizeof cpus, &cpus) == 0)
    sched_setaffinity(0, sizeof cpus, &cpus);
  start->body();
  return nullptr;
}

}  // namespace

Result<void> ServiceThread::start(const char* name,
                                  std::function<void()> body) {
  auto start = std::make_unique<Start>(Start{name, std::move(body)});
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const int fault = pthread_create(&thread_, &attributes, run, start.get());
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (fault != 0)
    return Error{ErrorCode::kThreadFailed,
                 std::string("thread ") + name + ": " + strerror(fault)};
  start.release();
  running_ = true;
  return {};
}

bool ServiceThread::join(std::chrono::milliseconds timeout) noexcept {
  if (!running_) return true;
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += timeout.count() / 1000;
  until.tv_nsec += timeout.count() % 1000 * 1'000'000;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  if (pthread_timedjoin_np(thread_, nullptr, &until) != 0) {
    pthread_detach(thread_);
    running_ = false;
    return false;
  }
  running_ = false;
  return true;
}

}  // namespace weft
