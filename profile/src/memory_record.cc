// SPDX-License-Identifier: Apache-2.0
#include "memory_record.h"

#include <iterator>

#include "call_decoder.h"
#include "weft/instant.h"
#include "weft/profile/backend_event.h"
#include "weft/profile/memory_report.h"

namespace weft {
namespace profile {
namespace {

using exporters::DecodedRecord;
using internal::Site;

constinit Site alloc_site(SiteKind::kInstant, kAllocName, kMemoryCategory,
                          __FILE__, __LINE__);
constinit Site free_site(SiteKind::kInstant, kFreeName, kMemoryCategory,
                         __FILE__, __LINE__);
constinit Site out_of_memory_site(SiteKind::kInstant, kOutOfMemoryName,
                                  kMemoryCategory, __FILE__, __LINE__);
constinit Site backend_site(SiteKind::kInstant, "", kBackendCategory, __FILE__,
                            __LINE__);

// A device as one number: type in the upper half.
std::int64_t number_of(MemoryDevice device) noexcept {
  return static_cast<std::int64_t>(device.type) << 32 |
         static_cast<std::uint32_t>(device.index);
}

void report(Site& site, std::uint64_t address, std::int64_t bytes,
            MemoryDevice device, MemoryTotals totals) noexcept {
  if (!site.on()) return;
  const Argument values[] = {
      Argument("address", address),
      Argument("bytes", bytes),
      Argument("device", number_of(device)),
      Argument("total_allocated", totals.allocated),
      Argument("total_reserved", totals.reserved),
  };
  internal::record_instant(site, StringId::kNone, values, std::size(values));
}

// Value `index` of the record; `absent` if there is none.
std::int64_t value_of(const DecodedRecord& record, unsigned index,
                      std::int64_t absent) noexcept {
  for (std::uint32_t i = 0; i < record.value_count; ++i)
    if (record.values[i].index == index)
      return static_cast<std::int64_t>(record.values[i].bits);
  return absent;
}

}  // namespace

void read_memory_record(const DecodedRecord& record, MemoryRecord& memory) {
  memory.address = static_cast<std::uint64_t>(value_of(record, 0, 0));
  memory.bytes = value_of(record, 1, 0);
  const std::int64_t device = value_of(record, 2, 0);
  const std::int64_t type = device >> 32;
  if (type >= 0 && type <= static_cast<std::int64_t>(DeviceType::kCustom))
    memory.device = static_cast<DeviceType>(type);
  memory.device_index = static_cast<int>(device & 0xffffffff);
  memory.total_allocated = value_of(record, 3, -1);
  memory.total_reserved = value_of(record, 4, -1);
}

void read_backend_record(
    const DecodedRecord& record, RawEvent& event,
    const std::function<std::string_view(StringId)>& text) {
  event.start_ns = value_of(record, 0, event.start_ns);
  event.end_ns = value_of(record, 1, event.start_ns);
  event.facts.edit().debug_handle = value_of(record, 2, -1);
  const std::int64_t scope = value_of(record, 3, 0);
  if (scope >= 0 && scope < static_cast<std::int64_t>(kRecordScopes))
    event.scope = static_cast<RecordScope>(scope);
  event.facts.edit().backend =
      text(static_cast<StringId>(value_of(record, 4, 0)));
}

}  // namespace profile

void report_alloc(const void* address, std::int64_t bytes, MemoryDevice device,
                  MemoryTotals totals) noexcept {
  profile::report(profile::alloc_site,
                  reinterpret_cast<std::uintptr_t>(address), bytes, device,
                  totals);
}

void report_free(const void* address, std::int64_t bytes, MemoryDevice device,
                 MemoryTotals totals) noexcept {
  profile::report(profile::free_site, reinterpret_cast<std::uintptr_t>(address),
                  bytes, device, totals);
}

void report_out_of_memory(std::int64_t requested, MemoryDevice device,
                          MemoryTotals totals) noexcept {
  profile::report(profile::out_of_memory_site, 0, requested, device, totals);
}

bool memory_wanted() noexcept { return profile::alloc_site.on(); }

void report_backend_event(const BackendEvent& event) noexcept {
  internal::Site& site = profile::backend_site;
  if (!site.on()) return;
  const Argument values[] = {
      Argument("start_ns", event.start_ns),
      Argument("end_ns", event.end_ns),
      Argument("debug_handle", event.debug_handle),
      Argument("scope", static_cast<std::int64_t>(event.scope)),
      Argument("backend", internal::intern(event.backend)),
  };
  internal::record_instant(site, internal::intern(event.name), values,
                           std::size(values));
}

}  // namespace weft
