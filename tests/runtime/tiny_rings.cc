// SPDX-License-Identifier: Apache-2.0
//
// Linked into a test, it gives all threads of the process together as little
// ring memory as can be asked for. Rings are reserved once a process, so such
// tests have an executable of their own.

#include <cstdlib>

namespace {

[[maybe_unused]] const int set = setenv("WEFT_RING_KB", "256", 1);

}  // namespace
