// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_INFERENCE_STROKES_H_
#define WEFT_EXAMPLES_INFERENCE_STROKES_H_

#include <random>
#include <vector>

#include "tensor.h"

namespace inference {

struct Batch {
  Tensor images;             // [n, 1, 16, 16]
  std::vector<int> classes;  // which of ten directions the stroke has
};

// Noisy strokes through the middle, in ten directions: enough to learn from
// without a download.
Batch draw_batch(std::int64_t count, std::mt19937& random);

}  // namespace inference

#endif  // WEFT_EXAMPLES_INFERENCE_STROKES_H_
