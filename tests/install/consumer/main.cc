// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "weft/weft.h"

int main() {
  if (!weft::init("consumer.weft")) return 1;
  {
    WEFT_SPAN("consume", {"answer", 42});
  }
  if (!weft::shutdown()) return 2;
  return std::strcmp(weft::version(), WEFT_VERSION) == 0 ? 0 : 3;
}
