// SPDX-License-Identifier: Apache-2.0

// Functions whose machine code generated_code_test.py looks at. Compiled by it,
// with WEFT_DISABLED, or with NO_MACROS: the same program never instrumented.

#if defined(NO_MACROS)
#define WEFT_SPAN(...) static_assert(true, "")
#define WEFT_FUNCTION() static_assert(true, "")
#define WEFT_INSTANT(...) static_assert(true, "")
#define WEFT_COUNTER(...) static_assert(true, "")
#define WEFT_FLOW_OUT(...) static_assert(true, "")
#else
#include "weft/weft.h"
#endif

extern "C" {

void work();

void one_span() {
  WEFT_SPAN("one");
  work();
}

void one_argument(long value) {
  WEFT_SPAN("argument", {"value", value});
  work();
}

void whole_function() {
  WEFT_FUNCTION();
  work();
}

void all_kinds(long value) {
  WEFT_FUNCTION();
  WEFT_SPAN("span", {"value", value});
  WEFT_INSTANT("instant", {"value", value});
  WEFT_COUNTER("counter", value);
  WEFT_FLOW_OUT("flow", 1);
  work();
}
}
