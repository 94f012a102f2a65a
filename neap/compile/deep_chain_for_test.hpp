// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A deep chain of layers, whose step needs much for backward, and what is seen
// of its training: tests compare it with and without a limit of memory.
#pragma once

#include <utility>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {

inline constexpr std::int64_t kChainWidth = 32;

struct DeepChain {
  explicit DeepChain(int layers) {
    seed(1);
    for (int i = 0; i < layers; ++i) {
      weights.push_back(
          requires_grad_(randn({kChainWidth, kChainWidth}) * 0.2));
    }
  }
  // Plain descent, so that weights change behind their last use.
  auto step() {
    return [this](const Tensor& x) {
      Tensor y = x;
      for (const Tensor& w : weights) {
        y = dropout(tanh(matmul(y, w)), 0.1);
      }
      const Tensor loss = sum(square(y));
      backward(loss);
      const NoGrad no_grad;
      for (const Tensor& w : weights) {
        copy_(w, w - w.grad() * 0.01);
        set_grad(w, Tensor());
      }
      return loss;
    };
  }
  std::vector<std::vector<float>> state() const {
    std::vector<std::vector<float>> out;
    for (const Tensor& w : weights) {
      out.push_back(floats(w));
    }
    return out;
  }
  std::vector<Tensor> weights;
};

struct Trained {
  std::vector<double> losses;
  std::vector<std::vector<float>> state;
  Bytes arena = 0;
  Fitting fitting{};
};

// Three steps of such a chain.
inline Trained train_chain(int layers, std::int64_t batch,
                           const CompileOptions& options) {
  DeepChain net(layers);
  auto step = neap::compile(net.step(), options);
  Trained out;
  seed(2);
  for (int i = 0; i < 3; ++i) {
    out.losses.push_back(step(randn({batch, kChainWidth})).item());
  }
  out.state = net.state();
  out.arena = step.arena_bytes();
  out.fitting = step.program().fitting;
  return out;
}

}  // namespace neap::compiler
