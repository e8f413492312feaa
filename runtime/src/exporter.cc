// SPDX-License-Identifier: Apache-2.0
#include "weft/exporter.h"

namespace weft {

void Exporter::snapshot(SnapshotOrder order) {
  order.finish(Error{ErrorCode::kUnsupported,
                     "this session keeps no records for snapshots; it needs "
                     "InitOptions::mode = Mode::kFlightRecorder"});
}

}  // namespace weft
