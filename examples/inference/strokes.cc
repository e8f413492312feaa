// SPDX-License-Identifier: Apache-2.0
#include "strokes.h"

#include <cmath>
#include <numbers>

#include "network.h"
#include "weft/profile/record_function.h"

namespace inference {

Batch draw_batch(std::int64_t count, std::mt19937& random) {
  WEFT_RECORD_USER_SCOPE("draw_batch");
  constexpr std::int64_t kSide = Network::kSide;
  Batch batch{Tensor({count, 1, kSide, kSide}), {}};
  std::uniform_int_distribution<int> any_class(0, Network::kClasses - 1);
  std::normal_distribution<float> noise(0.0f, 0.3f);
  for (std::int64_t n = 0; n < count; ++n) {
    const int which = any_class(random);
    batch.classes.push_back(which);
    const double angle = std::numbers::pi * which / Network::kClasses;
    float* const pixels = batch.images.row(n);
    for (std::int64_t y = 0; y < kSide; ++y)
      for (std::int64_t x = 0; x < kSide; ++x) {
        constexpr double kMiddle = (kSide - 1) / 2.0;
        const double away = std::sin(angle) * (static_cast<double>(x) - kMiddle) -
                            std::cos(angle) * (static_cast<double>(y) - kMiddle);
        pixels[y * kSide + x] =
            noise(random) + (std::abs(away) < 1.0 ? 1.0f : 0.0f);
      }
  }
  return batch;
}

}  // namespace inference
