// SPDX-License-Identifier: Apache-2.0
//
// A plugin that brings weft along: the program that loads it has none.

#include "k7_05_plugin.h"

#include "weft/session.h"
#include "weft/span.h"

extern "C" const K705Plugin* k7_05_plugin() {
  static const K705Plugin plugin{
      [] { return weft::init("").ok(); },
      [] { WEFT_SPAN("in the plugin"); },
  };
  return &plugin;
}

namespace {

struct AtUnload {
  ~AtUnload() { (void)weft::shutdown(); }
};
const AtUnload at_unload;

}  // namespace
