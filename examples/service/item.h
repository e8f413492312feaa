// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_SERVICE_ITEM_H_
#define WEFT_EXAMPLES_SERVICE_ITEM_H_

#include <cstdint>
#include <string>

namespace service {

// What the service stores and serves.
struct Item {
  std::int64_t id = 0;
  std::int64_t version = 0;  // grows by one with each write
  std::string body;
};

}  // namespace service

#endif  // WEFT_EXAMPLES_SERVICE_ITEM_H_
