// SPDX-License-Identifier: Apache-2.0

// What a user may try and must not get away with; see CMakeLists.txt.

#include <string>

#include "weft/subscription.h"
#include "weft/weft.h"

void cases(const char* text) {
  const std::string string = text;
  WEFT_SPAN_NAMED(span, "fine", {"key", string});
  weft::AsyncSpan call{string};
#if defined(NAME_IS_A_VARIABLE)
  WEFT_SPAN(text);
#elif defined(NAME_IS_A_STRING)
  WEFT_INSTANT(string);
#elif defined(CATEGORY_IS_A_VARIABLE)
  WEFT_SPAN_CAT(text, "name");
#elif defined(KEY_IS_A_POINTER)
  WEFT_SPAN("name", {text, 1});
#elif defined(VALUE_IS_AN_OBJECT)
  struct Object {};
  WEFT_SPAN("name", {"key", Object()});
#elif defined(SPAN_IS_COPIED)
  weft::Span copy = span;
#elif defined(ASYNC_SPAN_IS_COPIED)
  weft::AsyncSpan copy = call;
#elif defined(RESULT_IS_IGNORED)
  weft::subscribe({}, nullptr);
#endif
}
