// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_PROFILE_GOLDEN_EXPECT_H_
#define WEFT_TESTS_PROFILE_GOLDEN_EXPECT_H_

// Compares results with recorded ones, field by field. A field that is not
// recorded must have its default.

#include "golden_input.h"
#include "weft/profile/key_averages.h"

namespace weft::golden {

void expect_events(Json recorded, const EventList& list);
void expect_average(Json recorded, const FunctionEventAvg& average,
                    const EventListOptions& options);
void expect_averages(Json recorded, const KeyAverages& averages);

}  // namespace weft::golden

#endif  // WEFT_TESTS_PROFILE_GOLDEN_EXPECT_H_
