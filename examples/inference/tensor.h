// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_INFERENCE_TENSOR_H_
#define WEFT_EXAMPLES_INFERENCE_TENSOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tensor_pool.h"
#include "weft/profile/input_writer.h"

namespace inference {

// Numbers in rows, the last side densest. Begins with zeros.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::vector<std::int64_t> sizes)
      : sizes_(std::move(sizes)), count_(1) {
    for (const std::int64_t size : sizes_)
      count_ *= static_cast<std::size_t>(size);
    data_ = TensorPool::instance().take(count_);
    std::fill_n(data_, count_, 0.0f);
  }
  Tensor(Tensor&& other) noexcept
      : sizes_(std::move(other.sizes_)),
        count_(std::exchange(other.count_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(sizes_, other.sizes_);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Tensor() {
    if (data_ != nullptr) TensorPool::instance().give_back(data_, count_);
  }

  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  std::int64_t size(std::size_t side) const { return sizes_[side]; }
  std::size_t count() const { return count_; }
  float* data() { return data_; }
  const float* data() const { return data_; }
  // The part under one index of the first side.
  float* row(std::int64_t index) { return data_ + offset(index); }
  const float* row(std::int64_t index) const { return data_ + offset(index); }

 private:
  std::size_t offset(std::int64_t index) const {
    return static_cast<std::size_t>(index) * count_ /
           static_cast<std::size_t>(sizes_[0]);
  }

  std::vector<std::int64_t> sizes_;
  std::size_t count_ = 0;
  float* data_ = nullptr;
};

}  // namespace inference

// What the profiler shows of a tensor among a call's inputs.
template <>
struct weft::InputTraits<inference::Tensor> {
  static void describe(InputWriter& inputs, const inference::Tensor& tensor) {
    inputs.array("float", tensor.sizes().data(), tensor.sizes().size());
  }
};

#endif  // WEFT_EXAMPLES_INFERENCE_TENSOR_H_
