// SPDX-License-Identifier: Apache-2.0
#include "runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <new>

#include "message.h"
#include "process_clock.h"
#include "weft/clock.h"
#include "weft/internal/definitions.h"

namespace weft {
namespace {

constexpr std::size_t kStringBytes = 16 << 20;

std::atomic<Runtime*> the_runtime{nullptr};

// A plugin that brings weft along may be closed at any time: the code stays for
// weft's own threads, and for what each thread that recorded runs at its end.
void stay_loaded() noexcept {
  Dl_info found;
  link_map* module = nullptr;
  if (dladdr1(&the_runtime, &found, reinterpret_cast<void**>(&module),
              RTLD_DL_LINKMAP) == 0 ||
      module == nullptr || *module->l_name == '\0')
    return;  // the program itself stays
  dlopen(module->l_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

Runtime* Runtime::instance() noexcept {
  // [R] release by create(), acquire here: the tables are complete.
  Runtime* runtime = the_runtime.load(std::memory_order_acquire);
  // A child made by a bare clone() runs no fork handler, but finds this wiped.
  return runtime != nullptr && *runtime->alive_ != 0 ? runtime : nullptr;
}

Runtime* Runtime::create() noexcept {
  Runtime* runtime = instance();
  if (runtime != nullptr) return runtime;
  Runtime* made = new (std::nothrow) Runtime();
  if (made == nullptr || !made->reserve_tables()) {
    delete made;
    return nullptr;
  }
  // Two threads may be here at once. What is published is never deleted.
  Runtime* expected = the_runtime.load(std::memory_order_relaxed);
  if (instance() != nullptr ||
      !the_runtime.compare_exchange_strong(expected, made,
                                           std::memory_order_release)) {
    delete made;
    return instance();
  }
  stay_loaded();
  return made;
}

void Runtime::forget_after_fork() noexcept {
  the_runtime.store(nullptr, std::memory_order_relaxed);  // one thread is left
}

bool Runtime::reserve_tables() noexcept {
  if (!strings.reserve(kStringBytes) || !sites.reserve() ||
      !alive_memory_.reserve(sizeof *alive_,
                             ringbuf::RingMemory::Use::kWipedOnFork))
    return false;
  alive_ = reinterpret_cast<std::uint32_t*>(alive_memory_.at(0));
  *alive_ = 1;
  return true;
}

Result<void> Runtime::reserve_rings(const FinalConfig& config) {
  if (ready.load(std::memory_order_acquire)) return {};
  if (!stock.reserve(config.options.ring_bytes,
                     config.options.top_ring_bytes) ||
      !threads.reserve())
    return Error{ErrorCode::kOutOfMemory,
                 "no address space for rings of " +
                     std::to_string(config.options.ring_bytes) + " bytes"};
  drainer = std::make_unique<Drainer>(*this);
  helper = std::make_unique<Helper>(*this);
  return {};
}

Result<void> Runtime::prepare(const FinalConfig& config) {
  if (running_) return {};
  if (Result<void> rings = reserve_rings(config); !rings.ok()) return rings;
  clock = std::make_unique<ClockSource>(system_clock_hardware(), config.clock);
  if (clock->counter() == CounterKind::kMonotonic &&
      config.clock != ClockRequest::kMonotonic)
    say_once("records are stamped by CLOCK_MONOTONIC, which takes longer: " +
             clock->reason());
  anchors = std::make_unique<AnchorTaker>(*clock);
  slow_clock.store(clock->counter() == CounterKind::kMonotonic,
                   std::memory_order_relaxed);
  publish_process_clock(*clock, anchors->take());
  ready.store(true, std::memory_order_release);
  running_ = true;
  Result<void> started = helper->start();
  if (started.ok()) started = drainer->start();
  if (!started.ok()) retire(std::chrono::seconds(1));
  return started;
}

bool Runtime::retire(std::chrono::milliseconds timeout) {
  if (!running_) return true;
  running_ = false;
  bool ended = drainer->stop_thread(timeout);
  if (!helper->stop_thread(timeout)) {
    // It hangs in a write and still uses its object, which is left to it.
    left_behind_.push_back(std::move(helper));
    helper = std::make_unique<Helper>(*this);
    ended = false;
  }
  stock.release_free();
  return ended;
}

Ticks Runtime::now() const noexcept {
  return slow_clock.load(std::memory_order_relaxed) ? internal::read_monotonic()
                                                    : internal::read_ticks();
}

Ticks Runtime::now_ordered() const noexcept {
  return slow_clock.load(std::memory_order_relaxed)
             ? internal::read_monotonic()
             : internal::read_ticks_ordered();
}

void Runtime::use_slow_clock() {
  slow_clock.store(true, std::memory_order_relaxed);
  SiteList::instance().turn_to_slow_clock();
}

namespace internal {

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

}  // namespace internal

}  // namespace weft
