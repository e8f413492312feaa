// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_MESSAGE_H_
#define WEFT_SRC_MESSAGE_H_

#include <functional>
#include <string_view>

namespace weft {

// Where diagnostics go: `handler`, or standard error without one, or nowhere.
// Thread-safe.
void set_message_handler(std::function<void(std::string_view)> handler,
                         bool quiet);

// One line, without its newline. The same text again says nothing.
// Thread-safe. Cold.
void say_once(std::string_view message);

}  // namespace weft

#endif  // WEFT_SRC_MESSAGE_H_
