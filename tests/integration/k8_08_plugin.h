// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_INTEGRATION_K8_08_PLUGIN_H_
#define WEFT_TESTS_INTEGRATION_K8_08_PLUGIN_H_

// Calls `call` from a function that no symbol table of the stripped plugin has.
extern "C" __attribute__((visibility("default"))) int k8_08_plugin_entry(
    void (*call)());

#endif  // WEFT_TESTS_INTEGRATION_K8_08_PLUGIN_H_
