// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "operations.h"
#include "weft/profile/record_function.h"

namespace inference {
namespace {

using weft::SequenceNr;

// What backward calls must know of the forward one.
struct Forward {
  SequenceNr sequence = weft::next_sequence_nr();
  weft::ThreadIndex thread = weft::this_thread_index();
};

// Records the backward call of a forward one, around its operations.
template <std::size_t kName, class Body>
auto backward(const Forward& forward, const char (&name)[kName],
              const Body& body) {
  const weft::BackwardScope belongs(forward.sequence, forward.thread);
  weft::RecordFunction call(weft::RecordScope::kBackwardFunction);
  call.before(name);
  return body();
}

// Convolution, relu and pooling, and what they need to go back.
class Stage {
 public:
  const Tensor& forward(const Tensor& images, const Tensor& weight,
                        const Tensor& bias) {
    active_ = relu(conv2d(images, weight, bias, conv_.sequence), relu_.sequence);
    pooled_ = max_pool(active_, chosen_, pool_.sequence);
    return pooled_;
  }
  Tensor backward_from(Tensor gradient, const Tensor& images,
                       const Tensor& weight, Tensor& weight_gradient,
                       Tensor& bias_gradient) const {
    gradient = backward(pool_, "MaxPoolBackward", [&] {
      return max_pool_backward(gradient, chosen_, active_.sizes());
    });
    gradient = backward(relu_, "ReluBackward",
                        [&] { return relu_backward(gradient, active_); });
    return backward(conv_, "ConvolutionBackward", [&] {
      return conv2d_backward(gradient, images, weight, weight_gradient,
                             bias_gradient);
    });
  }
  const Tensor& output() const { return pooled_; }

 private:
  Forward conv_, relu_, pool_;
  Tensor active_;
  Tensor pooled_;
  std::vector<std::uint32_t> chosen_;
};

void fill(Tensor& tensor, std::int64_t inputs, std::mt19937& random) {
  std::normal_distribution<float> normal(
      0.0f, std::sqrt(2.0f / static_cast<float>(inputs)));
  for (std::size_t i = 0; i < tensor.count(); ++i)
    tensor.data()[i] = normal(random);
}

}  // namespace

Network::Parameters Network::zeros() {
  return {Tensor({8, 1, 3, 3}), Tensor({8}),       Tensor({16, 8, 3, 3}),
          Tensor({16}),         Tensor({256, kClasses}), Tensor({kClasses})};
}

Network::Network(std::uint32_t seed) : parameters_(zeros()) {
  std::mt19937 random(seed);
  fill(parameters_[kConv1], 9, random);
  fill(parameters_[kConv2], 8 * 9, random);
  fill(parameters_[kLinear], 256, random);
}

Tensor Network::infer(const Tensor& images) const {
  WEFT_RECORD_USER_SCOPE("infer");
  const Parameters& p = parameters_;
  Stage first, second;
  const Forward linear;
  return addmm(p[kBias3],
               second.forward(first.forward(images, p[kConv1], p[kBias1]),
                              p[kConv2], p[kBias2]),
               p[kLinear], linear.sequence);
}

double Network::learn(const Tensor& images, const int* classes,
                      Parameters& gradients) const {
  WEFT_RECORD_USER_SCOPE("learn");
  const Parameters& p = parameters_;
  Stage first, second;
  const Forward linear;
  const Tensor scores =
      addmm(p[kBias3],
            second.forward(first.forward(images, p[kConv1], p[kBias1]),
                           p[kConv2], p[kBias2]),
            p[kLinear], linear.sequence);
  Tensor gradient(scores.sizes());
  const double loss = cross_entropy(scores, classes, gradient);
  gradient = backward(linear, "AddmmBackward", [&] {
    return addmm_backward(gradient, second.output(), p[kLinear],
                          gradients[kLinear], gradients[kBias3]);
  });
  gradient = second.backward_from(std::move(gradient), first.output(),
                                  p[kConv2], gradients[kConv2],
                                  gradients[kBias2]);
  first.backward_from(std::move(gradient), images, p[kConv1],
                      gradients[kConv1], gradients[kBias1]);
  return loss;
}

void Network::apply(const Parameters& gradients, float rate) {
  WEFT_RECORD_USER_SCOPE("apply");
  for (std::size_t i = 0; i < kParameters; ++i)
    for (std::size_t j = 0; j < parameters_[i].count(); ++j)
      parameters_[i].data()[j] -= rate * gradients[i].data()[j];
}

}  // namespace inference
