// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_CONTROL_SOCKET_H_
#define WEFT_SRC_CONTROL_SOCKET_H_

#include <string>

#include "weft/result.h"

namespace weft {

// A Unix socket on which `weft ctl` and `weft top` ask the process for things.
// One request a connection, one at a time:
//
//   request   "snapshot before=5s reason=slow\n"      at most 4 KiB
//   answer    "ok\n" and what was asked for, or "error: in words\n"
//
// Only the process's own user and root are answered. A thread of its own waits
// for connections: without a socket there is none.

// Where the socket of `pid` lies when nobody says otherwise, for a process of
// `uid`: $XDG_RUNTIME_DIR's standard place if that exists, else a folder under
// /tmp that belongs to that user alone.
std::string control_socket_path(unsigned uid, int pid);

// Opens the socket at `path` ("on": at its default place) and serves it. One a
// process. A socket that a dead process left is replaced; one that somebody
// serves is not.
// Errors: kIo, kBusy (with the path), kInvalidArgument (too long),
// kThreadFailed. Control calls only.
Result<void> open_control_socket(const std::string& path);

// Takes the socket away. The thread ends by itself, at once or after the request
// that it is serving: that may wait for who calls this. Control calls only.
void close_control_socket();

// In the child: the parent's socket is not ours. Async-signal-safe.
void forget_control_socket() noexcept;

}  // namespace weft

#endif  // WEFT_SRC_CONTROL_SOCKET_H_
