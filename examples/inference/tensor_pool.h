// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_INFERENCE_TENSOR_POOL_H_
#define WEFT_EXAMPLES_INFERENCE_TENSOR_POOL_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace inference {

// The memory of all tensors. Blocks that come back are kept for the next of
// their size, as allocators of such programs do; so the profiler is told here
// what malloc could not tell: who uses how much, not who made it grow.
class TensorPool {
 public:
  static TensorPool& instance();
  ~TensorPool();

  // For `count` numbers; their values are of earlier use. Throws
  // std::bad_alloc.
  float* take(std::size_t count);
  void give_back(float* block, std::size_t count) noexcept;

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<float*>> free_;  // by size in numbers
  std::size_t in_use_bytes_ = 0;
  std::size_t held_bytes_ = 0;
};

}  // namespace inference

#endif  // WEFT_EXAMPLES_INFERENCE_TENSOR_POOL_H_
