// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_DECODED_RECORD_H_
#define WEFT_EXPORT_DECODED_RECORD_H_

#include <cstdint>
#include <string_view>

#include "weft/record.h"

namespace weft::exporters {

// One value of a record: an argument, or the value of a counter or flow.
struct DecodedValue {
  std::uint8_t index = 0;                // in the order of the site's keys
  RecordKind type = RecordKind::kNone;   // kInt64 ... kStringId, kText
  std::uint64_t bits = 0;                // the value, or the StringId
  std::string_view text;                 // of kText; valid until the next record
  std::uint64_t text_length = 0;         // before any cut; > text.size() if cut
};

// One record, whole, as readers see it.
struct DecodedRecord {
  ThreadIndex thread = ThreadIndex::kNone;
  std::uint64_t position = 0;  // of its head; may have kSidePosition
  RecordKind kind = RecordKind::kNone;
  std::uint8_t flags = 0;
  Ticks tick = 0;
  SiteId site = SiteId::kNone;
  StringId name = StringId::kNone;  // dynamic name; kNone: the site's own
  // kSpanEnd, kArgument, kFailure: the begin's position, all 64 bits, or
  //   kUnknownPosition when its begin is not in the file and only 32 bits are;
  //   with kFlagForeign the async id of another thread's span.
  // kFlowOut, kFlowIn: the flow id. kAsyncBegin, kAsyncEnd: the async id.
  // kContext: the first word of the request id, 0 if none. kStep: its number.
  // kLaunch: the correlation id. kLoss: the number of records lost.
  std::uint64_t target = 0;
  StringId key = StringId::kNone;  // kArgument: the key; kFailure: the reason
  std::uint32_t call = 0;  // kLaunch: which call; kLoss: its DropReason
  // Valid until the next record. A record has the values that its kind needs
  // (a counter one, a flow its id): readers leave out one that has not.
  const DecodedValue* values = nullptr;
  std::uint32_t value_count = 0;
  std::uint32_t slots = 0;  // that it took in its ring
};

inline constexpr std::uint64_t kUnknownPosition = ~std::uint64_t{0};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_DECODED_RECORD_H_
