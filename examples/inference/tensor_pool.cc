// SPDX-License-Identifier: Apache-2.0
#include "tensor_pool.h"

#include <cstdint>
#include <new>

#include "weft/profile/memory_report.h"

namespace inference {
namespace {

constexpr std::align_val_t kAlignment{64};

std::int64_t bytes_of(std::size_t count) {
  return static_cast<std::int64_t>(count * sizeof(float));
}

}  // namespace

TensorPool& TensorPool::instance() {
  static TensorPool pool;
  return pool;
}

TensorPool::~TensorPool() {
  for (const auto& [count, blocks] : free_)
    for (float* const block : blocks) operator delete(block, kAlignment);
}

float* TensorPool::take(std::size_t count) {
  const std::scoped_lock lock(mutex_);
  float* block = nullptr;
  std::vector<float*>& kept = free_[count];
  if (!kept.empty()) {
    block = kept.back();
    kept.pop_back();
  } else {
    void* const fresh =
        operator new(count * sizeof(float), kAlignment, std::nothrow);
    if (fresh == nullptr) {
      weft::report_out_of_memory(bytes_of(count));
      throw std::bad_alloc();
    }
    block = static_cast<float*>(fresh);
    held_bytes_ += count * sizeof(float);
  }
  in_use_bytes_ += count * sizeof(float);
  weft::report_alloc(block, bytes_of(count), {},
                     {static_cast<std::int64_t>(in_use_bytes_),
                      static_cast<std::int64_t>(held_bytes_)});
  return block;
}

void TensorPool::give_back(float* block, std::size_t count) noexcept {
  const std::scoped_lock lock(mutex_);
  in_use_bytes_ -= count * sizeof(float);
  weft::report_free(block, bytes_of(count), {},
                    {static_cast<std::int64_t>(in_use_bytes_),
                     static_cast<std::int64_t>(held_bytes_)});
  free_[count].push_back(block);
}

}  // namespace inference
