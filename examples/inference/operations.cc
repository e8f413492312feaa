// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "weft/profile/record_function.h"

namespace inference {
namespace {

constexpr std::int64_t kKernel = 3;
constexpr std::int64_t kTaps = kKernel * kKernel;
const std::vector<std::int64_t> kOnes{1, 1};  // stride, padding, dilation

struct Image {
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
  std::int64_t pixels() const { return height * width; }
};

Image image_of(const Tensor& images) {
  return {images.size(1), images.size(2), images.size(3)};
}

// Calls `visit(column, pixel)` for each number of the matrix [channels * taps,
// pixels] that a kernel's positions make of an image, where it lies inside.
template <class Visit>
void for_each_tap(const Image& image, const Visit& visit) {
  std::int64_t column = 0;
  for (std::int64_t c = 0; c < image.channels; ++c)
    for (std::int64_t dy = -1; dy <= 1; ++dy)
      for (std::int64_t dx = -1; dx <= 1; ++dx)
        for (std::int64_t y = 0; y < image.height; ++y)
          for (std::int64_t x = 0; x < image.width; ++x, ++column)
            if (y + dy >= 0 && y + dy < image.height && x + dx >= 0 &&
                x + dx < image.width)
              visit(column, (c * image.height + y + dy) * image.width + x + dx);
}

void spread(const float* pixels, const Image& image, Tensor& columns) {
  WEFT_RECORD_FUNCTION("im2col", columns);
  for_each_tap(image, [&](std::int64_t column, std::int64_t pixel) {
    columns.data()[column] = pixels[pixel];
  });
}

void gather(const Tensor& columns, const Image& image, float* pixels) {
  WEFT_RECORD_FUNCTION("col2im", columns);
  for_each_tap(image, [&](std::int64_t column, std::int64_t pixel) {
    pixels[pixel] += columns.data()[column];
  });
}

// c = beta * c + a * b, each matrix dense, a and b transposed on the way.
enum class Turned : bool { kNo, kYes };
void multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth,
              const float* a, Turned turn_a, const float* b, Turned turn_b,
              float beta, float* c) {
  const auto size = [](std::int64_t n) { return static_cast<blasint>(n); };
  cblas_sgemm(CblasRowMajor, turn_a == Turned::kYes ? CblasTrans : CblasNoTrans,
              turn_b == Turned::kYes ? CblasTrans : CblasNoTrans, size(rows),
              size(columns), size(depth), 1.0f, a,
              size(turn_a == Turned::kYes ? rows : depth), b,
              size(turn_b == Turned::kYes ? depth : columns), beta, c,
              size(columns));
}

}  // namespace

Tensor conv2d(const Tensor& images, const Tensor& weight, const Tensor& bias,
              weft::SequenceNr sequence) {
  WEFT_RECORD_FUNCTION_SEQ(sequence, "aten::conv2d", images, weight, bias,
                           kOnes, kOnes, kOnes, 1);
  const Image image = image_of(images);
  const std::int64_t depth = image.channels * kTaps;
  Tensor output({images.size(0), weight.size(0), image.height, image.width});
  Tensor columns({depth, image.pixels()});
  for (std::int64_t n = 0; n < images.size(0); ++n) {
    spread(images.row(n), image, columns);
    for (std::int64_t c = 0; c < weight.size(0); ++c)
      std::fill_n(output.row(n) + c * image.pixels(), image.pixels(),
                  bias.data()[c]);
    multiply(weight.size(0), image.pixels(), depth, weight.data(), Turned::kNo,
             columns.data(), Turned::kNo, 1.0f, output.row(n));
  }
  return output;
}

Tensor conv2d_backward(const Tensor& gradient, const Tensor& images,
                       const Tensor& weight, Tensor& weight_gradient,
                       Tensor& bias_gradient) {
  WEFT_RECORD_FUNCTION("conv2d_backward", gradient, images, weight);
  const Image image = image_of(images);
  const std::int64_t depth = image.channels * kTaps;
  const std::int64_t outputs = weight.size(0);
  Tensor result(images.sizes());
  Tensor columns({depth, image.pixels()});
  for (std::int64_t n = 0; n < images.size(0); ++n) {
    const float* const given = gradient.row(n);
    spread(images.row(n), image, columns);
    multiply(outputs, depth, image.pixels(), given, Turned::kNo, columns.data(),
             Turned::kYes, 1.0f, weight_gradient.data());
    for (std::int64_t i = 0; i < outputs * image.pixels(); ++i)
      bias_gradient.data()[i / image.pixels()] += given[i];
    multiply(depth, image.pixels(), outputs, weight.data(), Turned::kYes, given,
             Turned::kNo, 0.0f, columns.data());
    gather(columns, image, result.row(n));
  }
  return result;
}

Tensor relu(const Tensor& input, weft::SequenceNr sequence) {
  WEFT_RECORD_FUNCTION_SEQ(sequence, "relu", input);
  Tensor output(input.sizes());
  for (std::size_t i = 0; i < input.count(); ++i)
    output.data()[i] = std::max(0.0f, input.data()[i]);
  return output;
}

Tensor relu_backward(const Tensor& gradient, const Tensor& output) {
  WEFT_RECORD_FUNCTION("relu_backward", gradient, output);
  Tensor result(gradient.sizes());
  for (std::size_t i = 0; i < output.count(); ++i)
    result.data()[i] = output.data()[i] > 0 ? gradient.data()[i] : 0.0f;
  return result;
}

Tensor max_pool(const Tensor& images, std::vector<std::uint32_t>& chosen,
                weft::SequenceNr sequence) {
  WEFT_RECORD_FUNCTION_SEQ(sequence, "max_pool", images);
  const Image image = image_of(images);
  Tensor output(
      {images.size(0), image.channels, image.height / 2, image.width / 2});
  chosen.resize(output.count());
  std::size_t at = 0;
  for (std::int64_t plane = 0; plane < images.size(0) * image.channels; ++plane)
    for (std::int64_t y = 0; y + 1 < image.height; y += 2)
      for (std::int64_t x = 0; x + 1 < image.width; x += 2, ++at) {
        const std::int64_t corner = plane * image.pixels() + y * image.width + x;
        std::int64_t best = corner;
        for (const std::int64_t other :
             {corner + 1, corner + image.width, corner + image.width + 1})
          if (images.data()[other] > images.data()[best]) best = other;
        output.data()[at] = images.data()[best];
        chosen[at] = static_cast<std::uint32_t>(best);
      }
  return output;
}

Tensor max_pool_backward(const Tensor& gradient,
                         const std::vector<std::uint32_t>& chosen,
                         const std::vector<std::int64_t>& sizes) {
  WEFT_RECORD_FUNCTION("max_pool_backward", gradient);
  Tensor result(sizes);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    result.data()[chosen[i]] += gradient.data()[i];
  return result;
}

Tensor addmm(const Tensor& bias, const Tensor& rows, const Tensor& weight,
             weft::SequenceNr sequence) {
  const std::int64_t matrix[] = {rows.size(0), weight.size(0)};
  WEFT_RECORD_FUNCTION_SEQ(sequence, "aten::addmm", bias,
                           (weft::ArrayInput{"float", matrix, 2}), weight);
  Tensor output({rows.size(0), weight.size(1)});
  for (std::int64_t n = 0; n < rows.size(0); ++n)
    std::copy_n(bias.data(), bias.count(), output.row(n));
  multiply(rows.size(0), weight.size(1), weight.size(0), rows.data(),
           Turned::kNo, weight.data(), Turned::kNo, 1.0f, output.data());
  return output;
}

Tensor addmm_backward(const Tensor& gradient, const Tensor& rows,
                      const Tensor& weight, Tensor& weight_gradient,
                      Tensor& bias_gradient) {
  WEFT_RECORD_FUNCTION("addmm_backward", gradient, rows, weight);
  const std::int64_t count = rows.size(0);
  const std::int64_t inputs = weight.size(0);
  const std::int64_t outputs = weight.size(1);
  multiply(inputs, outputs, count, rows.data(), Turned::kYes, gradient.data(),
           Turned::kNo, 1.0f, weight_gradient.data());
  for (std::int64_t i = 0; i < count * outputs; ++i)
    bias_gradient.data()[i % outputs] += gradient.data()[i];
  Tensor result(rows.sizes());
  multiply(count, inputs, outputs, gradient.data(), Turned::kNo, weight.data(),
           Turned::kYes, 0.0f, result.data());
  return result;
}

double cross_entropy(const Tensor& scores, const int* classes,
                     Tensor& gradient) {
  WEFT_RECORD_FUNCTION("cross_entropy", scores);
  const std::int64_t count = scores.size(0);
  const std::int64_t width = scores.size(1);
  double loss = 0;
  for (std::int64_t n = 0; n < count; ++n) {
    const float* const row = scores.row(n);
    const float largest = *std::max_element(row, row + width);
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c) sum += std::exp(row[c] - largest);
    for (std::int64_t c = 0; c < width; ++c) {
      const double share = std::exp(row[c] - largest) / sum;
      const bool right = c == classes[n];
      if (right) loss -= std::log(share);
      gradient.row(n)[c] = static_cast<float>(
          (share - (right ? 1.0 : 0.0)) / static_cast<double>(count));
    }
  }
  return loss / static_cast<double>(count);
}

}  // namespace inference
