// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_INTEGRATION_PLUGIN_MODULE_H_
#define WEFT_TESTS_INTEGRATION_PLUGIN_MODULE_H_

// What the plugin offers, found by name with dlsym().
extern "C" {

// Four spans, two instants and a counter a round.
void plugin_record(int rounds);

// A thread of the plugin's own that records all the time, and at its very end.
// Returns when it does.
void plugin_start_worker();
void plugin_stop_worker();
}

#endif  // WEFT_TESTS_INTEGRATION_PLUGIN_MODULE_H_
