// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_SERVICE_RENDER_H_
#define WEFT_EXAMPLES_SERVICE_RENDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "item.h"

namespace service {

// The answers' bodies, as JSON.
std::string render_item(const Item& item);
std::string render_items(const std::vector<Item>& items);
std::string render_error(std::string_view reason);

}  // namespace service

#endif  // WEFT_EXAMPLES_SERVICE_RENDER_H_
