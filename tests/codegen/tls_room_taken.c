// SPDX-License-Identifier: Apache-2.0

// Takes 1 KiB of the little static TLS that is left for loaded libraries.
__attribute__((tls_model("initial-exec"))) __thread char tls_room_taken[1024];

char* tls_room(void) { return tls_room_taken; }
