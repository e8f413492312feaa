// SPDX-License-Identifier: Apache-2.0
#include "kept_records.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "coverage_marks.h"
#include "slot_assembly.h"

namespace weft::profile {
namespace {

constexpr std::size_t kMaxAnchors = 1 << 16;   // 1.8 h while records come
constexpr std::size_t kMaxNamed = 1 << 17;     // threads, and changes of names
constexpr std::size_t kMaxCovered = 1 << 24;
constexpr std::size_t kMaxUncoveredLaunches = 1 << 20;

const Slot& slot_at(const Run& run, std::uint32_t at) noexcept {
  return at < run.first_count ? run.first[at] : run.second[at - run.first_count];
}

std::uint32_t record_end(const Run& run, std::uint32_t at,
                         std::uint32_t count) noexcept {
  std::uint32_t next = at + 1;
  while (next < count && is_continuation(slot_at(run, next))) ++next;
  return next;
}

UncoveredLaunch launch_at(const Run& run, std::uint32_t at,
                          std::uint32_t next) noexcept {
  const Slot& head = slot_at(run, at);
  return {next - at == 1 ? low_of(head) : slot_at(run, at + 1).word1,
          high_of(head)};
}

}  // namespace

template <class T>
BoundedArray<T>::~BoundedArray() {
  if (data_ != nullptr) munmap(data_, capacity_ * sizeof(T));
}

template <class T>
bool BoundedArray<T>::reserve(std::size_t capacity) noexcept {
  void* memory =
      mmap(nullptr, capacity * sizeof(T), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  data_ = static_cast<T*>(memory);
  capacity_ = capacity;
  return true;
}

template class BoundedArray<Slot>;
template class BoundedArray<std::uint8_t>;
template class BoundedArray<ClockAnchor>;
template class BoundedArray<ThreadInfo>;
template class BoundedArray<UncoveredLaunch>;

std::shared_ptr<KeptRecords> KeptRecords::create(std::size_t max_bytes,
                                                 Overflow overflow,
                                                 const CoverageRule& rule) {
  std::shared_ptr<KeptRecords> kept(new KeptRecords(overflow, rule));
  const bool partial = rule.coverage != ThreadCoverage::kAllThreads;
  if (!kept->slots_.reserve(max_bytes / sizeof(Slot)) ||
      !kept->anchors_.reserve(kMaxAnchors) ||
      !kept->threads_.reserve(kMaxNamed) ||
      (partial && (!kept->covered_.reserve(kMaxCovered) ||
                   !kept->uncovered_launches_.reserve(kMaxUncoveredLaunches))))
    return nullptr;
  return kept;
}

void KeptRecords::begin(const ProcessInfo& process,
                        const SubscriptionInfo& info) {
  process_ = process;
  info_ = info;
}

void KeptRecords::define(const Catalog& catalog) {
  ThreadInfo thread;
  while (catalog.next_thread(&cursor_, &thread)) threads_.push(thread);
}

bool KeptRecords::consume(const Run& run) {
  if (stopped_) return false;
  const std::size_t before = slots_.size();
  const bool kept =
      rule_.coverage == ThreadCoverage::kAllThreads
          ? keep(run, 0, run.first_count + run.second_count)
          : keep_covered(run);
  if (!kept) {
    slots_.resize(before);
    stopped_ = overflow_ == Overflow::kStopSession;
  }
  bytes_.store(bytes(), std::memory_order_relaxed);
  return kept;
}

bool KeptRecords::keep(const Run& run, std::uint32_t from,
                       std::uint32_t count) noexcept {
  if (count == 0) return true;
  if (slots_.capacity() - slots_.size() < kHeaderSlots + count) return false;
  const RunHeader header{static_cast<std::uint32_t>(run.thread), count,
                         run.position + from, run.reference, 0};
  Slot* to = slots_.data() + slots_.size();
  std::memcpy(static_cast<void*>(to), &header, sizeof header);
  to += kHeaderSlots;
  const std::uint32_t first =
      from < run.first_count ? std::min(count, run.first_count - from) : 0;
  std::copy_n(run.first + from, first, to);
  if (count > first) {
    const std::uint32_t skip = from + first - run.first_count;
    std::copy_n(run.second + skip, count - first, to + first);
  }
  slots_.resize(slots_.size() + kHeaderSlots + count);
  return true;
}

bool KeptRecords::keep_covered(const Run& run) noexcept {
  const std::uint32_t owner = owner_.load(std::memory_order_acquire);
  if (owner != 0 && owner < covered_.capacity() && !owner_covered_) {
    owner_covered_ = true;
    covered_.data()[owner] = 1;
  }
  const auto thread = static_cast<std::uint32_t>(run.thread);
  std::uint8_t never = 0;
  std::uint8_t* covered =
      thread < covered_.capacity() ? &covered_.data()[thread] : &never;
  const std::uint32_t count = run.first_count + run.second_count;
  bool room = true;
  std::uint32_t begin = 0;  // of what is gathered, up to `at`
  for (std::uint32_t at = 0; at < count;) {
    const std::uint32_t next = record_end(run, at, count);
    const Slot& head = slot_at(run, at);
    const bool mark = read_mark(run, at, covered);
    const bool wanted =
        !mark && (*covered != 0 || kind_of(head) == RecordKind::kAsyncEnd);
    if (!wanted) {
      room = room && keep(run, begin, at - begin);
      begin = next;
      outside_ += !mark && !is_mark(kind_of(head)) ? 1 : 0;
      if (kind_of(head) == RecordKind::kLaunch)
        uncovered_launches_.push(launch_at(run, at, next));
    }
    at = next;
  }
  return room && keep(run, begin, count - begin);
}

bool KeptRecords::read_mark(const Run& run, std::uint32_t at,
                            std::uint8_t* covered) {
  const Slot& head = slot_at(run, at);
  if (kind_of(head) != RecordKind::kInstant) return false;
  if (low_of(head) != static_cast<std::uint32_t>(coverage_site())) return false;
  const std::uint32_t count = run.first_count + run.second_count;
  if (record_end(run, at, count) - at == 3 &&
      slot_at(run, at + 1).word1 == rule_.session)
    *covered = slot_at(run, at + 2).word1 != 0 ? 1 : 0;
  return true;
}

void KeptRecords::lose(const Loss&) {}

void KeptRecords::anchor(const ClockAnchor& anchor) {
  // The last one matters most: it bounds the newest records.
  if (!anchors_.push(anchor)) anchors_.data()[anchors_.size() - 1] = anchor;
}

void KeptRecords::end(const SubscriptionEnd& end) { end_ = end; }

ExporterStatus KeptRecords::status() const {
  ExporterStatus status;
  status.bytes_pending = bytes_.load(std::memory_order_relaxed);
  return status;
}

void KeptRecords::for_each(
    const std::function<void(const exporters::DecodedRecord&)>& take) const {
  SlotAssembly assembly;
  const Slot* at = slots_.begin();
  while (at != slots_.end()) {
    RunHeader header;
    std::memcpy(&header, at, sizeof header);
    at += kHeaderSlots;
    assembly.read(static_cast<ThreadIndex>(header.thread), header.position,
                  header.reference, at, header.count, take);
    at += header.count;
  }
}

}  // namespace weft::profile
