// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_INFERENCE_NETWORK_H_
#define WEFT_EXAMPLES_INFERENCE_NETWORK_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor.h"

namespace inference {

// 16 x 16 images to scores of 10 classes:
//
//   [n, 1, 16, 16] conv 8, relu, pool -> [n, 8, 8, 8] conv 16, relu, pool
//     -> [n, 16, 4, 4] = [n, 256] addmm -> [n, 10]
class Network {
 public:
  static constexpr std::int64_t kSide = 16;
  static constexpr std::int64_t kClasses = 10;
  enum : std::size_t {
    kConv1, kBias1, kConv2, kBias2, kLinear, kBias3, kParameters
  };
  using Parameters = std::array<Tensor, kParameters>;

  explicit Network(std::uint32_t seed);

  // Zeros in the shapes of the parameters.
  static Parameters zeros();

  // The scores of [n, 1, 16, 16]. Thread-safe.
  Tensor infer(const Tensor& images) const;
  // The loss of a batch; adds its gradients. Thread-safe, with gradients of the
  // caller's own.
  double learn(const Tensor& images, const int* classes,
               Parameters& gradients) const;
  // Moves the parameters against the gradients. Not thread-safe.
  void apply(const Parameters& gradients, float rate);

 private:
  Parameters parameters_;
};

}  // namespace inference

#endif  // WEFT_EXAMPLES_INFERENCE_NETWORK_H_
