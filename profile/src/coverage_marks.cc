// SPDX-License-Identifier: Apache-2.0
#include "coverage_marks.h"

#include "weft/instant.h"

namespace weft::profile {
namespace {

constinit internal::Site site(SiteKind::kInstant, "coverage",
                              kCoverageCategory, __FILE__, __LINE__);

}  // namespace

void mark_coverage(std::uint64_t session, bool covered) noexcept {
  if (!site.on()) return;
  const Argument values[] = {Argument("session", session),
                             Argument("covered", covered)};
  internal::record_instant(site, StringId::kNone, values, 2);
}

SiteId coverage_site() noexcept {
  // Acquire: the number goes with what it means.
  return static_cast<SiteId>(site.number.load(std::memory_order_acquire));
}

}  // namespace weft::profile
