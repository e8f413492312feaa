// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_FLOP_FORMULAS_H_
#define WEFT_PROFILE_FLOP_FORMULAS_H_

// Floating-point operations of an operation, from the sizes of its inputs.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/profile/rules.h"

namespace weft {

// One input as a formula sees it.
struct OpInput {
  enum class Kind : std::uint8_t { kTensor, kIntegers, kInteger, kOther };

  Kind kind = Kind::kOther;
  std::vector<std::int64_t> values;  // sizes, or the integers

  static OpInput tensor(std::vector<std::int64_t> sizes) {
    return {Kind::kTensor, std::move(sizes)};
  }
  static OpInput integers(std::vector<std::int64_t> values) {
    return {Kind::kIntegers, std::move(values)};
  }
  static OpInput integer(std::int64_t value) {
    return {Kind::kInteger, {value}};
  }
  static OpInput other() { return {}; }
};

// None: these inputs do not tell.
using FlopFormula =
    std::function<std::optional<std::uint64_t>(std::span<const OpInput>)>;

// Knows aten::conv2d, mm, addmm, bmm, baddbmm, mul and add. Results that do not
// fit stop at the largest number.
//
// Thread-safe while nobody adds formulas.
class FlopFormulas {
 public:
  // The reference counts element-wise operations by their first input alone.
  explicit FlopFormulas(Rules rules = Rules::kWeft);

  // Replaces the formula of that name.
  void add(std::string name, FlopFormula formula);
  bool knows(std::string_view name) const;
  // None: no formula of this name, or it cannot tell.
  std::optional<std::uint64_t> estimate(std::string_view name,
                                        std::span<const OpInput> inputs) const;

 private:
  std::map<std::string, FlopFormula, std::less<>> formulas_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_FLOP_FORMULAS_H_
