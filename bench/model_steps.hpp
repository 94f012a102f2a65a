// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training steps of the models room that are measured: a transformer and a
// recurrent network, each with its optimizer and one batch, written as a user
// writes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neap/neap.hpp"

namespace neap::bench {

class ModelStep {
 public:
  template <class Model>
  ModelStep(std::shared_ptr<Model> model,
            std::unique_ptr<optim::Optimizer> optimizer,
            std::function<Tensor()> loss)
      : model_(std::move(model)),
        optimizer_(std::move(optimizer)),
        loss_(std::move(loss)) {}

  void run() {
    optimizer_->zero_grad();
    backward(loss_());
    optimizer_->step();
  }
  /// The most bytes live in a step above those before it, when there are no
  /// gradients.
  Bytes peak();

 private:
  std::shared_ptr<nn::Module> model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::function<Tensor()> loss_;
};

struct ModelCase {
  std::string name;
  std::string peer;  // what the peer is asked for
  double flops = 0;  // of the matrix products of one step
  bool is_long = false;
  std::function<ModelStep()> make;
};

std::vector<ModelCase> model_cases();

}  // namespace neap::bench
