// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_FUZZ_TRACE_SEEDS_H_
#define WEFT_TESTS_FUZZ_TRACE_SEEDS_H_

#include <string>
#include <vector>

#include "export/weft_file.h"

namespace weft::test {

// One record of each kind, by two threads and a signal handler.
inline Bytes trace_of_all_kinds() {
  const TempPath path(".weft");
  Recording recording(path.str(), 1u << 20);
  FakeCatalog& catalog = recording.catalog();
  const SiteId site = catalog.add_site(SiteKind::kSpan, "site", "category",
                                       {{"key", RecordKind::kText}});
  SlotBuilder slots(catalog.add_thread("main", 1));
  const OpenSpan outer = slots.begin(100, site);
  slots.text(0, "more than the eight bytes of one slot");
  slots.real(1, 0.5);
  slots.boolean(2, true);
  slots.packed_text(3, std::string("\x0e\x2b\xfa\x07\xce and more of it", 20));
  slots.instant(110, site, StringId{1});
  slots.counter(120, site, 1.0);
  slots.flow_out(130, site, 1);
  slots.flow_in(140, site, 1, kFlagGlobal);
  slots.async_end(160, site, slots.async_begin(150, site));
  slots.late_argument(170, outer, StringId{2}, -1);
  slots.failure(180, outer, StringId{3});
  slots.context(190, {1, 2});
  slots.step(200, site, 1);
  slots.launch(210, 1, 1ull << 40);
  slots.loss(220, DropReason::kRingFull, 3);
  slots.instant(215, site);  // time goes back
  slots.clock_change(230);
  slots.head(RecordKind::kScheduling, 240, 1);
  slots.more(static_cast<RecordKind>(0xff), 1, 2, 3);
  slots.end(250, outer);
  recording.add(slots);
  SlotBuilder side(ThreadIndex{1}, kSidePosition | 5);
  side.end(130, side.begin(120, site, StringId::kNone, kFlagSignalHandler),
           kFlagSignalHandler);
  recording.add(side);
  recording.lose({ThreadIndex{1}, slots.position(), 2, DropReason::kRingFull});
  recording.close();
  return read_file(path.str());
}

inline std::vector<Bytes> trace_seeds() {
  return {small_trace(), trace_of_all_kinds()};
}

}  // namespace weft::test

#endif  // WEFT_TESTS_FUZZ_TRACE_SEEDS_H_
