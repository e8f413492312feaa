// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_INFERENCE_OPERATIONS_H_
#define WEFT_EXAMPLES_INFERENCE_OPERATIONS_H_

// What the network computes with, forwards and backwards. Each operation is one
// recorded call; names with "aten::" are those whose FLOPs the profiler knows.

#include <cstdint>
#include <vector>

#include "tensor.h"
#include "weft/profile/sequence_number.h"

namespace inference {

// images [n, in, h, w], weight [out, in, 3, 3], bias [out] -> [n, out, h, w]
Tensor conv2d(const Tensor& images, const Tensor& weight, const Tensor& bias,
              weft::SequenceNr sequence);
// Adds to the gradients of weight and bias; returns that of the images.
Tensor conv2d_backward(const Tensor& gradient, const Tensor& images,
                       const Tensor& weight, Tensor& weight_gradient,
                       Tensor& bias_gradient);

Tensor relu(const Tensor& input, weft::SequenceNr sequence);
Tensor relu_backward(const Tensor& gradient, const Tensor& output);

// The largest of each 2 x 2; `chosen` says where it was.
Tensor max_pool(const Tensor& images, std::vector<std::uint32_t>& chosen,
                weft::SequenceNr sequence);
Tensor max_pool_backward(const Tensor& gradient,
                         const std::vector<std::uint32_t>& chosen,
                         const std::vector<std::int64_t>& sizes);

// bias [out] + rows [n, in] * weight [in, out]; rows may have more sides.
Tensor addmm(const Tensor& bias, const Tensor& rows, const Tensor& weight,
             weft::SequenceNr sequence);
Tensor addmm_backward(const Tensor& gradient, const Tensor& rows,
                      const Tensor& weight, Tensor& weight_gradient,
                      Tensor& bias_gradient);

// Mean over the rows of -log of the right class's share; `gradient` is that of
// the scores.
double cross_entropy(const Tensor& scores, const int* classes, Tensor& gradient);

}  // namespace inference

#endif  // WEFT_EXAMPLES_INFERENCE_OPERATIONS_H_
