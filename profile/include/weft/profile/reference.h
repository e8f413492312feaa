// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_REFERENCE_H_
#define WEFT_PROFILE_REFERENCE_H_

// What PyTorch 2.2.2 answers, to the byte, its failures included. For comparing
// with figures that it printed; everything else should ask the list itself,
// whose answers never fail. One thing is not reproduced: with stacks and FLOPs
// together its last two columns have each other's headings.

#include <string>

#include "weft/profile/event_list.h"
#include "weft/profile/key_averages.h"
#include "weft/profile/table_options.h"
#include "weft/result.h"

namespace weft::reference {

// Errors: kUnsupported      the reference fails on such rows, the message says
//                           which rule refuses them
//         kInvalidArgument  the reference has no such sort key
[[nodiscard]] Result<std::string> table(const EventList& list,
                                        const TableOptions& options = {});
[[nodiscard]] Result<std::string> table(const KeyAverages& averages,
                                        const TableOptions& options = {});

// Errors: kUnsupported  the list has no tree
[[nodiscard]] Result<KeyAverages> key_averages(const EventList& list,
                                               const KeyOptions& options = {});

// The list form of trace file.
//
// Errors: kUnsupported  nothing but memory rows
[[nodiscard]] Result<std::string> chrome_trace(const EventList& list);

}  // namespace weft::reference

#endif  // WEFT_PROFILE_REFERENCE_H_
