// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/flop_formulas.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace weft {
namespace {

using Inputs = std::span<const OpInput>;
using Count = std::optional<std::uint64_t>;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product)
             ? std::numeric_limits<std::uint64_t>::max()
             : product;
}

// The sizes of input `i`; null if it is no tensor, or has a negative size.
const std::vector<std::int64_t>* sizes_of(Inputs inputs, std::size_t i) {
  if (i >= inputs.size() || inputs[i].kind != OpInput::Kind::kTensor) {
    return nullptr;
  }
  const auto& sizes = inputs[i].values;
  const bool valid = std::all_of(sizes.begin(), sizes.end(),
                                 [](std::int64_t size) { return size >= 0; });
  return valid ? &sizes : nullptr;
}

std::uint64_t product(std::span<const std::int64_t> sizes) {
  std::uint64_t result = 1;
  for (const std::int64_t size : sizes) {
    result = multiply(result, static_cast<std::uint64_t>(size));
  }
  return result;
}

// 2 * prod(A) / last(A) * prod(B): of a matrix product, the last size is summed
// over. `shared_first`: the first size is a batch that both have.
Count matrix_product(Inputs inputs, std::size_t first, bool shared_first) {
  const auto* a = sizes_of(inputs, first);
  const auto* b = sizes_of(inputs, first + 1);
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (a->empty() || a->back() == 0) return 0;
  if (shared_first && a->front() == 0) return 0;
  // Without the sizes that are divided out, instead of dividing: exact even
  // when the whole product does not fit.
  std::span<const std::int64_t> kept(*a);
  kept = kept.first(kept.size() - 1);
  if (shared_first && !kept.empty()) kept = kept.subspan(1);
  return multiply(2, multiply(product(kept), product(*b)));
}

struct Pair {
  std::int64_t rows;
  std::int64_t columns;
};

std::optional<Pair> pair_of(const OpInput& input) {
  if (input.kind != OpInput::Kind::kIntegers || input.values.size() != 2) {
    return std::nullopt;
  }
  return Pair{input.values[0], input.values[1]};
}

// Positions a kernel takes along one side of the image; none if it does not
// fit or the numbers make no sense.
std::optional<std::uint64_t> positions(std::int64_t size, std::int64_t kernel,
                                       std::int64_t stride,
                                       std::int64_t padding,
                                       std::int64_t dilation) {
  std::int64_t padded = 0;
  std::int64_t reach = 0;
  if (stride <= 0 || __builtin_mul_overflow(padding, 2, &padded) ||
      __builtin_add_overflow(padded, size, &padded) ||
      __builtin_mul_overflow(dilation, kernel - 1, &reach) ||
      __builtin_sub_overflow(padded, reach, &padded) || padded < 1) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>((padded - 1) / stride + 1);
}

Count conv2d(Inputs inputs) {
  if (inputs.size() < 7) return std::nullopt;
  const auto* image = sizes_of(inputs, 0);
  const auto* weight = sizes_of(inputs, 1);
  const auto stride = pair_of(inputs[3]);
  const auto padding = pair_of(inputs[4]);
  const auto dilation = pair_of(inputs[5]);
  const OpInput& groups = inputs[6];
  if (image == nullptr || weight == nullptr || image->size() != 4 ||
      weight->size() != 4 || !stride || !padding || !dilation ||
      groups.kind != OpInput::Kind::kInteger || groups.values[0] <= 0 ||
      (*image)[1] % groups.values[0] != 0) {
    return std::nullopt;
  }
  const auto rows = positions((*image)[2], (*weight)[2], stride->rows,
                              padding->rows, dilation->rows);
  const auto columns = positions((*image)[3], (*weight)[3], stride->columns,
                                 padding->columns, dilation->columns);
  if (!rows || !columns) return std::nullopt;
  const std::uint64_t one_group =
      static_cast<std::uint64_t>((*image)[1] / groups.values[0]);
  std::uint64_t flops = multiply(2, static_cast<std::uint64_t>((*image)[0]));
  flops = multiply(flops, multiply(*rows, *columns));
  flops = multiply(flops, one_group);
  return multiply(flops, multiply(static_cast<std::uint64_t>((*weight)[0]),
                                  product(std::span(*weight).subspan(2))));
}

Count first_input(Inputs inputs) {
  const auto* sizes = sizes_of(inputs, 0);
  if (sizes == nullptr) return std::nullopt;
  return product(*sizes);
}

// One operation an element of the result, which is as large as both inputs
// stretched to each other.
Count elements(Inputs inputs) {
  const auto* a = sizes_of(inputs, 0);
  const auto* b = sizes_of(inputs, 1);
  if (a == nullptr && b == nullptr) return std::nullopt;
  if (a == nullptr || b == nullptr) return product(a != nullptr ? *a : *b);
  std::uint64_t result = 1;
  const std::size_t sides = std::max(a->size(), b->size());
  for (std::size_t i = 0; i < sides; ++i) {
    const std::int64_t x = i < a->size() ? (*a)[a->size() - 1 - i] : 1;
    const std::int64_t y = i < b->size() ? (*b)[b->size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result = multiply(result, static_cast<std::uint64_t>(x == 1 ? y : x));
  }
  return result;
}

}  // namespace

FlopFormulas::FlopFormulas(Rules rules) {
  add("aten::conv2d", conv2d);
  add("aten::mm", [](Inputs in) { return matrix_product(in, 0, false); });
  add("aten::addmm", [](Inputs in) { return matrix_product(in, 1, false); });
  add("aten::bmm", [](Inputs in) { return matrix_product(in, 0, true); });
  add("aten::baddbmm", [](Inputs in) { return matrix_product(in, 1, true); });
  const auto element_wise = rules == Rules::kReference ? first_input : elements;
  add("aten::mul", element_wise);
  add("aten::add", element_wise);
}

void FlopFormulas::add(std::string name, FlopFormula formula) {
  formulas_.insert_or_assign(std::move(name), std::move(formula));
}

bool FlopFormulas::knows(std::string_view name) const {
  return formulas_.find(name) != formulas_.end();
}

std::optional<std::uint64_t> FlopFormulas::estimate(
    std::string_view name, std::span<const OpInput> inputs) const {
  const auto formula = formulas_.find(name);
  if (formula == formulas_.end()) return std::nullopt;
  return formula->second(inputs);
}

}  // namespace weft
