// SPDX-License-Identifier: Apache-2.0
#include "weft/status.h"

#include "session_control.h"
#include "weft/internal/gpu_state.h"
#include "weft/version.h"

namespace weft {

RuntimeStatus status() {
  RuntimeStatus status;
  status.gpu = internal::gpu_state();
  SessionControl& all = session_control();
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

}  // namespace weft
