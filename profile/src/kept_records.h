// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_KEPT_RECORDS_H_
#define WEFT_PROFILE_SRC_KEPT_RECORDS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/export/decoded_record.h"
#include "weft/exporter.h"
#include "weft/profile/profiler_options.h"

namespace weft::profile {

// An array in memory that the system hands out as it grows, and that is full at
// a bound: pushing never allocates.
template <class T>
class BoundedArray {
 public:
  BoundedArray() = default;
  BoundedArray(const BoundedArray&) = delete;
  BoundedArray& operator=(const BoundedArray&) = delete;
  ~BoundedArray();

  bool reserve(std::size_t capacity) noexcept;  // false: no address space
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t size() const noexcept { return size_; }
  // All `capacity` elements may be written; they begin as zeros.
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  bool push(const T& value) noexcept {
    if (size_ == capacity_) return false;
    data_[size_++] = value;
    return true;
  }
  void resize(std::size_t size) noexcept { size_ = size; }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

// Work that a thread outside the session handed to a device: what the device
// reports of it is not the session's either.
struct UncoveredLaunch {
  std::uint64_t correlation = 0;
  std::uint32_t call = 0;
};

// Which threads' records a session takes.
struct CoverageRule {
  ThreadCoverage coverage = ThreadCoverage::kAllThreads;
  std::uint64_t session = 0;  // number in coverage marks
};

// Records of one interval of a session, copied as they are into bounded memory;
// they are looked at when it is over.
//
//   slots   [run's header | slots ...][run's header | slots ...] ... free
//
// With coverage of one thread, records of others are left out here, so that
// they take no memory. Ends of asynchronous spans are kept from everywhere,
// since they name what they end.
class KeptRecords : public Exporter {
 public:
  // Null when there is no address space for `max_bytes`.
  static std::shared_ptr<KeptRecords> create(std::size_t max_bytes,
                                             Overflow overflow,
                                             const CoverageRule& rule);

  // The thread whose session it is. Before it records anything. Thread-safe.
  void cover(ThreadIndex owner) noexcept {
    owner_.store(static_cast<std::uint32_t>(owner), std::memory_order_release);
  }

  // Exporter.
  void begin(const ProcessInfo& process, const SubscriptionInfo& info) override;
  void define(const Catalog& catalog) override;
  bool consume(const Run& run) override;
  void lose(const Loss& loss) override;
  void anchor(const ClockAnchor& anchor) override;
  void settle(std::int64_t) override {}
  void end(const SubscriptionEnd& end) override;
  bool has_work() const noexcept override { return false; }
  bool work() override { return false; }
  ExporterStatus status() const override;

  // After the subscription has ended.
  const ProcessInfo& process() const noexcept { return process_; }
  const SubscriptionInfo& info() const noexcept { return info_; }
  const SubscriptionEnd& end() const noexcept { return end_; }
  const BoundedArray<ClockAnchor>& anchors() const noexcept { return anchors_; }
  const BoundedArray<ThreadInfo>& threads() const noexcept { return threads_; }
  std::size_t bytes() const noexcept { return slots_.size() * sizeof(Slot); }
  // The first 2^20. Work of later ones looks as if nobody had launched it.
  const BoundedArray<UncoveredLaunch>& uncovered_launches() const noexcept {
    return uncovered_launches_;
  }
  // Records of threads that the session does not cover.
  std::uint64_t outside_coverage() const noexcept { return outside_; }
  // Calls `take` with each record, in the order of delivery.
  void for_each(
      const std::function<void(const exporters::DecodedRecord&)>& take) const;

 private:
  struct RunHeader {
    std::uint32_t thread;
    std::uint32_t count;
    std::uint64_t position;
    Ticks reference;
    std::uint64_t unused;
  };
  static constexpr std::size_t kHeaderSlots = sizeof(RunHeader) / sizeof(Slot);
  static_assert(sizeof(RunHeader) == kHeaderSlots * sizeof(Slot));

  KeptRecords(Overflow overflow, const CoverageRule& rule)
      : overflow_(overflow), rule_(rule) {}
  bool keep(const Run& run, std::uint32_t from, std::uint32_t count) noexcept;
  bool keep_covered(const Run& run) noexcept;
  // Takes a mark into account; true if the record is one.
  bool read_mark(const Run& run, std::uint32_t at, std::uint8_t* covered);

  const Overflow overflow_;
  const CoverageRule rule_;
  std::atomic<std::uint32_t> owner_{0};
  bool owner_covered_ = false;
  bool stopped_ = false;  // Overflow::kStopSession has come true
  std::atomic<std::uint64_t> bytes_{0};  // for status()

  BoundedArray<Slot> slots_;
  BoundedArray<std::uint8_t> covered_;  // by ThreadIndex
  BoundedArray<UncoveredLaunch> uncovered_launches_;
  BoundedArray<ClockAnchor> anchors_;
  BoundedArray<ThreadInfo> threads_;
  std::uint64_t cursor_ = 0;
  std::uint64_t outside_ = 0;
  ProcessInfo process_;
  SubscriptionInfo info_;
  SubscriptionEnd end_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_KEPT_RECORDS_H_
