// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training step that the sections measure: a multi-layer perceptron, its
// optimizer and one batch, written as a user writes it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "neap/compile/compile.hpp"
#include "neap/neap.hpp"

namespace neap::bench {

inline constexpr std::array<std::int64_t, 4> kWidths{784, 512, 256, 10};

class TrainingStep {
 public:
  /// `optimizer`: "sgd" or "adam".
  TrainingStep(std::int64_t batch, const std::string& optimizer,
               bool is_compiled = false)
      : before_(memory::default_domain().stats().live),
        model_(kWidths),
        x_(rand({batch, kWidths.front()})),
        labels_(randint(0, kWidths.back(), {batch})) {
    if (optimizer == "sgd") {
      optimizer_ = std::make_unique<optim::SGD>(model_.parameters());
    } else {
      optimizer_ = std::make_unique<optim::Adam>(model_.parameters());
      is_adam_ = true;
    }
    if (is_compiled) {
      auto plan = std::make_shared<compiler::Compiled<
          std::function<void(const Tensor&, const Tensor&)>>>(
          compile(std::function<void(const Tensor&, const Tensor&)>(
              [this](const Tensor& x, const Tensor& y) { step(x, y); })));
      compiled_ = [plan](const Tensor& x, const Tensor& y) { (*plan)(x, y); };
    }
  }
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  void run() {
    if (compiled_) {
      compiled_(x_, labels_);
    } else {
      step(x_, labels_);
    }
  }

  /// The most bytes live in a step above the parameters, the optimizer's state
  /// and the batch; what a compiled step holds (its arena, its books) counts.
  /// REQUIRES: two steps were run.
  Bytes peak() {
    memory::Domain& domain = memory::default_domain();
    domain.reset_peak();
    run();
    const Bytes copies = is_adam_ ? 3 : 1;
    return domain.stats().live_peak - before_ -
           copies * model_.parameter_bytes() -
           x_.element_count() * size_of(x_.dtype()) -
           labels_.element_count() * size_of(labels_.dtype());
  }

 private:
  void step(const Tensor& x, const Tensor& labels) {
    backward(cross_entropy(model_(x), labels));
    optimizer_->step();
    optimizer_->zero_grad();
  }

  Bytes before_;
  models::Mlp model_;
  Tensor x_;
  Tensor labels_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  bool is_adam_ = false;
  std::function<void(const Tensor&, const Tensor&)> compiled_;
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
