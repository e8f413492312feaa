// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_CONTROL_CLIENT_H_
#define WEFT_TOOLS_WEFT_CONTROL_CLIENT_H_

#include <string>

#include "weft/result.h"

namespace weft::tools {

// Asks a process that has a control socket. `target` is a process id or the
// path of a socket. Returns what follows "ok"; waits at most a minute.
// Errors: kIo (nobody listens there; the message says what to do), kBusy (the
// process refuses, in its words).
Result<std::string> ask_process(const std::string& target,
                                const std::string& request);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_CONTROL_CLIENT_H_
