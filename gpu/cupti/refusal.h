// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_REFUSAL_H_
#define WEFT_GPU_CUPTI_REFUSAL_H_

#include <string>

namespace weft::cupti {

// A result of CUPTI's in words, its number included. CUPTI's own texts are not
// used: for some codes they say "unknown". Thread-safe.
std::string words_for(int code);

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_REFUSAL_H_
