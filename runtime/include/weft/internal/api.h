// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_API_H_
#define WEFT_INTERNAL_API_H_

// Marks what programs and plugins link to. Everything else is compiled with
// hidden visibility, so libweft.so exports this and no more, and a program that
// contains weft can offer it to its plugins (CMake's ENABLE_EXPORTS).
#define WEFT_API __attribute__((visibility("default")))

#endif  // WEFT_INTERNAL_API_H_
