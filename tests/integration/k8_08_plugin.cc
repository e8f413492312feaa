// SPDX-License-Identifier: Apache-2.0
#include "k8_08_plugin.h"

namespace k8_08 {

// Hidden, and calls something afterwards, so that it keeps its frame.
__attribute__((noinline)) int hidden_in_plugin(void (*call)()) {
  call();
  return 1;
}

}  // namespace k8_08

extern "C" int k8_08_plugin_entry(void (*call)()) {
  return k8_08::hidden_in_plugin(call) + 1;
}
