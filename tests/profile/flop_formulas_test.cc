// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/flop_formulas.h"

#include <gtest/gtest.h>

#include <limits>

namespace weft {
namespace {

using Inputs = std::vector<OpInput>;
using Count = std::optional<std::uint64_t>;

OpInput tensor(std::vector<std::int64_t> sizes) {
  return OpInput::tensor(std::move(sizes));
}

Inputs conv(std::vector<std::int64_t> image, std::vector<std::int64_t> weight,
            std::int64_t stride, std::int64_t padding, std::int64_t dilation,
            std::int64_t groups) {
  return {tensor(std::move(image)),
          tensor(std::move(weight)),
          OpInput::other(),
          OpInput::integers({stride, stride}),
          OpInput::integers({padding, padding}),
          OpInput::integers({dilation, dilation}),
          OpInput::integer(groups)};
}

Count estimate(const char* name, const Inputs& inputs,
               Rules rules = Rules::kWeft) {
  return FlopFormulas(rules).estimate(name, inputs);
}

TEST(FlopFormulas, TV_F1_MatrixProduct) {
  EXPECT_EQ(estimate("aten::mm", {tensor({128, 20}), tensor({20, 30})}),
            153600u);
  EXPECT_EQ(estimate("aten::addmm",
                     {tensor({30}), tensor({128, 20}), tensor({20, 30})}),
            153600u);
}

TEST(FlopFormulas, TV_F2_BatchedMatrixProduct) {
  EXPECT_EQ(estimate("aten::bmm", {tensor({4, 2, 3}), tensor({4, 3, 5})}),
            240u);
  EXPECT_EQ(estimate("aten::baddbmm",
                     {tensor({4, 2, 5}), tensor({4, 2, 3}), tensor({4, 3, 5})}),
            240u);
}

TEST(FlopFormulas, TV_F3_Convolution) {
  EXPECT_EQ(estimate("aten::conv2d",
                     conv({40, 16, 18, 260}, {33, 16, 18, 18}, 1, 0, 1, 1)),
            3325639680u);
}

TEST(FlopFormulas, TV_F4_GroupedConvolution) {
  EXPECT_EQ(
      estimate("aten::conv2d", conv({1, 8, 5, 5}, {8, 1, 3, 3}, 2, 1, 1, 8)),
      1296u);
}

TEST(FlopFormulas, TV_F5_ElementWise) {
  EXPECT_EQ(estimate("aten::mul", {tensor({3, 4}), tensor({1})}), 12u);
  EXPECT_EQ(
      estimate("aten::mul", {tensor({3, 4}), tensor({1})}, Rules::kReference),
      12u);
  EXPECT_EQ(estimate("aten::mul", {tensor({})}), 1u);
}

TEST(FlopFormulas, TV_F6_ScalarFirstTellsTheReferenceNothing) {
  const Inputs inputs = {OpInput::other(), tensor({3, 4})};
  EXPECT_EQ(estimate("aten::add", inputs, Rules::kReference), std::nullopt);
  EXPECT_EQ(estimate("aten::add", inputs), 12u);
}

TEST(FlopFormulas, ElementWiseCountsTheBroadcastResult) {
  const Inputs inputs = {tensor({4, 1}), tensor({3, 1, 5})};
  EXPECT_EQ(estimate("aten::add", inputs), 60u);
  EXPECT_EQ(estimate("aten::add", inputs, Rules::kReference), 4u);
  EXPECT_EQ(estimate("aten::add", {tensor({4}), tensor({3})}), std::nullopt);
}

TEST(FlopFormulas, EmptyMatricesCostNothing) {
  EXPECT_EQ(estimate("aten::mm", {tensor({}), tensor({3})}), 0u);
  EXPECT_EQ(estimate("aten::mm", {tensor({5, 0}), tensor({0, 3})}), 0u);
  EXPECT_EQ(estimate("aten::bmm", {tensor({0, 5, 4}), tensor({0, 4, 3})}), 0u);
  EXPECT_EQ(estimate("aten::bmm", {tensor({0, 5, 4}), tensor({2, 4, 3})}), 0u);
}

// Unknown is not free.
TEST(FlopFormulas, WhatCannotBeToldIsNotZero) {
  EXPECT_EQ(estimate("aten::linear", {tensor({2}), tensor({2})}), std::nullopt);
  EXPECT_EQ(estimate("aten::mm", {tensor({2, 3})}), std::nullopt);
  EXPECT_EQ(estimate("aten::mm", {tensor({-2, 3}), tensor({3, 4})}),
            std::nullopt);
  EXPECT_EQ(estimate("aten::mm", {}), std::nullopt);
}

TEST(FlopFormulas, ConvolutionRefusesWhatMakesNoSense) {
  const Inputs good = conv({1, 8, 5, 5}, {8, 8, 3, 3}, 1, 0, 1, 1);
  ASSERT_TRUE(estimate("aten::conv2d", good));
  EXPECT_EQ(
      estimate("aten::conv2d", conv({1, 8, 5, 5}, {8, 8, 3, 3}, 0, 0, 1, 1)),
      std::nullopt);
  EXPECT_EQ(
      estimate("aten::conv2d", conv({1, 8, 5, 5}, {8, 8, 3, 3}, 1, 0, 1, 0)),
      std::nullopt);
  EXPECT_EQ(estimate("aten::conv2d", conv({1, 8, 5}, {8, 8, 3, 3}, 1, 0, 1, 1)),
            std::nullopt);
  EXPECT_EQ(
      estimate("aten::conv2d", conv({1, 8, 2, 2}, {8, 8, 3, 3}, 1, 0, 1, 1)),
      std::nullopt);
  EXPECT_EQ(
      estimate("aten::conv2d", conv({1, 3, 5, 5}, {8, 1, 3, 3}, 1, 0, 1, 2)),
      std::nullopt)
      << "groups of one channel and a half";
  Inputs textual = good;
  textual[4] = OpInput::other();  // padding "same"
  EXPECT_EQ(estimate("aten::conv2d", textual), std::nullopt);
  Inputs few = good;
  few.pop_back();
  EXPECT_EQ(estimate("aten::conv2d", few), std::nullopt);
}

TEST(FlopFormulas, HugeSizesStopAtTheLargestNumber) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_EQ(estimate("aten::mm", {tensor({kHuge, kHuge}), tensor({kHuge, 2})}),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(FlopFormulas, ServicesAddAndReplaceFormulas) {
  FlopFormulas formulas;
  EXPECT_FALSE(formulas.knows("my::op"));
  formulas.add("my::op", [](std::span<const OpInput>) -> Count { return 42; });
  formulas.add("aten::add",
               [](std::span<const OpInput>) -> Count { return 7; });
  EXPECT_TRUE(formulas.knows("my::op"));
  EXPECT_EQ(formulas.estimate("my::op", {}), 42u);
  EXPECT_EQ(formulas.estimate("aten::add", {}), 7u);
}

}  // namespace
}  // namespace weft
