// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_SRC_DEVICE_INBOX_H_
#define WEFT_GPU_SRC_DEVICE_INBOX_H_

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "device_counts.h"
#include "weft/gpu/device_family.h"
#include "weft/gpu/device_source.h"

namespace weft {

// What one call of the source left behind.
struct DeviceBatch {
  std::vector<DeviceActivity> activities;
  std::vector<DeviceClockPair> clock_pairs;
  std::uint64_t lost = 0;
  StringId lost_reason = StringId::kNone;
};

// The queue between a source's threads and whoever fetches. One for each run of
// the source, so that what an old run hands over can be told from the new
// one's.
//
//   state_   [closed | calls inside]
//
// Edge [C]: close() sets the bit and then waits until nobody is inside. A call
// enters by an addition that reads the bit, so each call either sees it and
// leaves, or is waited for; both are read-modify-writes of one word.
class DeviceInbox final : public DeviceSink {
 public:
  DeviceInbox(DeviceFamily family, std::size_t memory_bytes,
              std::shared_ptr<DeviceCounts> counts)
      : family_(family),
        memory_bytes_(memory_bytes),
        counts_(std::move(counts)) {}

  void activities(const DeviceActivity* batch,
                  std::size_t count) noexcept override;
  void clock(const DeviceClockPair& pair) noexcept override;
  void lost(std::uint64_t count, std::string_view reason) noexcept override;
  void launch(std::uint64_t correlation, std::uint32_t call) noexcept override;

  // From here on everything is late. Waits for calls that are inside.
  void close() noexcept;
  // One fetcher at a time; what it takes stays charged until it gives it back.
  void fetch(const std::function<void(DeviceBatch&)>& take);
  void give_back(std::size_t bytes) noexcept {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  void allow(std::size_t memory_bytes) noexcept;

 private:
  class Call;
  bool charge(std::size_t bytes) noexcept;
  bool push(std::unique_ptr<DeviceBatch> batch) noexcept;

  const DeviceFamily family_;
  std::atomic<std::size_t> memory_bytes_;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::uint64_t> state_{0};
  const std::shared_ptr<DeviceCounts> counts_;
  moodycamel::ConcurrentQueue<std::unique_ptr<DeviceBatch>> queue_;
};

}  // namespace weft

#endif  // WEFT_GPU_SRC_DEVICE_INBOX_H_
