// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_INTEGRATION_K7_05_PLUGIN_H_
#define WEFT_TESTS_INTEGRATION_K7_05_PLUGIN_H_

// What a plugin offers that has weft inside it.
struct K705Plugin {
  bool (*begin)();    // a session; false: it could not
  void (*record)();   // a span of the calling thread
};
extern "C" const K705Plugin* k7_05_plugin();

#endif  // WEFT_TESTS_INTEGRATION_K7_05_PLUGIN_H_
