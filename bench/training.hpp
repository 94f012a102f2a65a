// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training step that the sections measure: a multi-layer perceptron, its
// optimizer and one batch, written as a user writes it.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "neap/neap.hpp"

namespace neap::bench {

inline constexpr std::array<std::int64_t, 4> kWidths{784, 512, 256, 10};

class TrainingStep {
 public:
  /// `optimizer`: "sgd" or "adam".
  TrainingStep(std::int64_t batch, const std::string& optimizer)
      : model_(kWidths),
        x_(rand({batch, kWidths.front()})),
        labels_(randint(0, kWidths.back(), {batch})) {
    if (optimizer == "sgd") {
      optimizer_ = std::make_unique<optim::SGD>(model_.parameters());
    } else {
      optimizer_ = std::make_unique<optim::Adam>(model_.parameters());
    }
  }

  void run() {
    optimizer_->zero_grad();
    const Tensor loss = cross_entropy(model_(x_), labels_);
    backward(loss);
    optimizer_->step();
  }

 private:
  models::Mlp model_;
  Tensor x_;
  Tensor labels_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

/// Of the matrix products of one step: forward, the gradients of the weights,
/// and those of the inputs of all layers but the first.
inline double step_flops(std::int64_t batch) {
  double products = 0;
  for (std::size_t i = 0; i + 1 < kWidths.size(); ++i) {
    const auto size = static_cast<double>(kWidths[i] * kWidths[i + 1]);
    products += (i == 0 ? 2.0 : 3.0) * size;
  }
  return 2.0 * static_cast<double>(batch) * products;
}

}  // namespace neap::bench
