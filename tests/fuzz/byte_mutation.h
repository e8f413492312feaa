// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_FUZZ_BYTE_MUTATION_H_
#define WEFT_TESTS_FUZZ_BYTE_MUTATION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

#include "export/weft_file.h"

namespace weft::test {

// Bytes become something else; pieces are doubled, taken out, or replaced by
// numbers that are often wrong. The first `kept` bytes stay.
inline void mutate(Bytes* bytes, std::mt19937_64* random, std::size_t kept) {
  const auto below = [&](std::size_t end) { return (*random)() % end; };
  for (auto n = 1 + below(4); n > 0 && bytes->size() > kept; --n) {
    const auto at =
        static_cast<std::ptrdiff_t>(kept + below(bytes->size() - kept));
    switch (below(5)) {
      case 0:
        (*bytes)[static_cast<std::size_t>(at)] ^=
            static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        (*bytes)[static_cast<std::size_t>(at)] =
            static_cast<std::uint8_t>((*random)());
        break;
      case 2:
        (*bytes)[static_cast<std::size_t>(at)] = 0;  // a 9-byte varint
        break;
      case 3: {
        const auto end = std::min<std::ptrdiff_t>(
            at + static_cast<std::ptrdiff_t>(below(20)), std::ssize(*bytes));
        bytes->erase(bytes->begin() + at, bytes->begin() + end);
        break;
      }
      default:
        bytes->insert(bytes->begin() + at, below(9),
                      static_cast<std::uint8_t>((*random)()));
        break;
    }
  }
}

}  // namespace weft::test

#endif  // WEFT_TESTS_FUZZ_BYTE_MUTATION_H_
