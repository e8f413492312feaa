// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "weft/weft.h"

void UNIT() {
  WEFT_FUNCTION();
  WEFT_SPAN_NAMED(span, "here");
  span.set("standard", static_cast<long>(__cplusplus));
  WEFT_INSTANT("instant");
  weft::AsyncSpan call{"call"};
  const weft::Request request{1};
}
