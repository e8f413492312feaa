// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_CONTROL_COMMANDS_H_
#define WEFT_SRC_CONTROL_COMMANDS_H_

#include <string>
#include <string_view>

namespace weft {

// Does what a request of the control socket asks for. Returns "ok\n" and what
// was asked for, or "error: " and why not, in one line. Blocks as the calls do
// that it stands for.
//
//   status                      state, output, records delivered and dropped ...
//   start, stop                 of recording
//   categories FILTER           as InitOptions::categories; nothing: all
//   snapshot [before=TIME] [after=TIME] [reason=TEXT]
//   metrics                     metrics_text()
//
// TIME is a number with ns, us, ms, s, m or h. `reason` takes the rest.
std::string answer_control(std::string_view request);

}  // namespace weft

#endif  // WEFT_SRC_CONTROL_COMMANDS_H_
