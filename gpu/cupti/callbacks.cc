// SPDX-License-Identifier: Apache-2.0
#include "cupti/callbacks.h"

#include <atomic>

#include "weft/gpu/launch_word.h"
#include "weft/internal/launch.h"
#include "weft/internal/tick_counter.h"

namespace weft::cupti {
namespace {

// Relaxed everywhere: each is a switch that may be seen late. A launch that is
// recorded a moment too long is one without work, and a buffer that is handed
// out then is late.
std::atomic<bool> g_busy{false};
std::atomic<bool> g_recording{false};
std::atomic<bool> g_handing_out{false};
std::atomic<bool> g_may_refuse{true};
std::atomic<bool> g_fatal{false};
std::atomic<std::uint32_t> g_run{0};

// A call of the runtime makes one of the driver, with the same number.
struct LastLaunch {
  std::uint32_t run;
  std::uint32_t correlation;
};
thread_local LastLaunch t_last{};

constexpr std::uint32_t kDomainShift = 16;

}  // namespace

BufferPool& buffer_pool() {
  static BufferPool& pool = *new BufferPool;
  return pool;
}

bool begin_callbacks(bool may_refuse_buffers) noexcept {
  if (g_busy.exchange(true, std::memory_order_acq_rel)) return false;
  g_fatal.store(false, std::memory_order_relaxed);
  g_may_refuse.store(may_refuse_buffers, std::memory_order_relaxed);
  g_run.fetch_add(1, std::memory_order_relaxed);
  buffer_pool().begin_run();
  g_handing_out.store(true, std::memory_order_relaxed);
  g_recording.store(true, std::memory_order_relaxed);
  return true;
}

void stop_recording_launches() noexcept {
  g_recording.store(false, std::memory_order_relaxed);
}

void end_callbacks() noexcept {
  stop_recording_launches();
  g_handing_out.store(false, std::memory_order_relaxed);
  // Pairs with the exchange of the next source to begin.
  g_busy.store(false, std::memory_order_release);
}

bool saw_fatal_error() noexcept {
  return g_fatal.load(std::memory_order_relaxed);
}

void on_callback(void*, std::uint32_t domain, std::uint32_t call,
                 const void* data) noexcept {
  if (domain == static_cast<std::uint32_t>(Domain::kState)) {
    if (call == kStateFatalError)
      g_fatal.store(true, std::memory_order_relaxed);
    return;
  }
  if (!g_recording.load(std::memory_order_relaxed)) return;
  if (callback_data::kSite.of(data) != kSiteEnter) return;
  const std::uint32_t correlation = callback_data::kCorrelation.of(data);
  const std::uint32_t run = g_run.load(std::memory_order_relaxed);
  if (correlation == 0 ||
      (t_last.correlation == correlation && t_last.run == run))
    return;
  t_last = {run, correlation};
  internal::record_launch(
      correlation, launch_word(DeviceFamily::kCuda,
                               domain << kDomainShift | (call & 0xffff)));
}

void on_buffer_request(std::uint8_t** buffer, std::size_t* bytes,
                       std::size_t* most_records) noexcept {
  const bool refuse = g_may_refuse.load(std::memory_order_relaxed);
  *buffer = g_handing_out.load(std::memory_order_relaxed) || !refuse
                ? buffer_pool().hand_out(refuse)
                : nullptr;
  *bytes = *buffer == nullptr ? 0 : BufferPool::kBufferBytes;
  *most_records = 0;
}

void on_buffer_complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t,
                        std::size_t valid_bytes) noexcept {
  buffer_pool().take_back(buffer, valid_bytes);
}

std::uint64_t host_timestamp() noexcept {
  return internal::read_monotonic();
}

}  // namespace weft::cupti
