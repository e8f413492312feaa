// SPDX-License-Identifier: Apache-2.0

// Instrumented calls whose machine code generated_code_test.py looks at.
// Compiled by it, with WEFT_DISABLED, or with NO_MACROS.

#if defined(NO_MACROS)
#define WEFT_RECORD_FUNCTION(...) static_assert(true, "")
#define WEFT_RECORD_USER_SCOPE(...) static_assert(true, "")
#else
#include "weft/profile/record_function.h"
#endif

extern "C" {

void work();

void one_call() {
  WEFT_RECORD_FUNCTION("one");
  work();
}

void call_with_inputs(long rows, double scale) {
  WEFT_RECORD_FUNCTION("inputs", rows, scale);
  work();
}

void user_range() {
  WEFT_RECORD_USER_SCOPE("range");
  work();
}
}
