// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A training step in half of its arena: values that backward needs later wait
// in a nameless file meanwhile, to the same bits.
#include <cstdio>
#include <iostream>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
using neap::tensor::Spec;

neap::nn::Sequential deep() {
  neap::seed(7);
  neap::nn::Sequential net;
  for (int i = 0; i < 12; ++i) {
    net.push(neap::nn::Linear(64, 64));
    net.push(neap::nn::Tanh());
  }
  return net;
}

struct Trained {
  double loss = 0;
  neap::Bytes arena = 0;
};

Trained train(const neap::CompileOptions& options, bool is_told) {
  const neap::nn::Sequential net = deep();
  neap::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  auto step = neap::compile(
      [&](const Tensor& x) {
        Tensor loss = mean(square(net(x)));
        backward(loss);
        optimizer.step();
        optimizer.zero_grad();
        return loss;
      },
      options);
  step.prepare({Spec{neap::f32, {1024, 64}}});
  if (is_told) {
    std::cout << step.prediction();
  }
  const Tensor x = neap::randn({1024, 64});
  step(x);
  return {step(x).item(), step.arena_bytes()};
}

}  // namespace

int main() {
  const Trained whole = train({}, false);
  const Trained half = train({.arena_limit = whole.arena / 2,
                              .spill = {.folder = ".",
                                        .write_rate = 1'000'000'000,
                                        .fetch_rate = 1'000'000'000}},
                             true);
  std::printf("arenas %s and %s, losses %.9g and %.9g\n",
              neap::format_bytes(whole.arena).c_str(),
              neap::format_bytes(half.arena).c_str(), whole.loss, half.loss);
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return whole.loss == half.loss && half.arena <= whole.arena / 2 && live == 0
             ? 0
             : 1;
}
