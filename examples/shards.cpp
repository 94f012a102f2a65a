// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One batch in eight shards, which run one after another, as a loop that
// accumulates gradients would: the arena has the activations of one shard.
#include <cmath>
#include <cstdio>
#include <iostream>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

constexpr int kBatch = 256;

neap::nn::Sequential deep() {
  neap::seed(7);
  neap::nn::Sequential net;
  for (int i = 0; i < 12; ++i) {
    net.push(neap::nn::Linear(64, 64));
    net.push(neap::nn::Tanh());
    net.push(neap::nn::Dropout(0.1));
  }
  return net;
}

// Three steps on one batch. RETURNS: the last loss.
double train(const neap::CompileOptions& options) {
  const neap::nn::Sequential net = deep();
  neap::optim::AdamW optimizer(net.parameters(), {.lr = 1e-3});
  auto step = neap::compile(
      [&](const Tensor& x, const Tensor& y) {
        const Tensor loss = mse_loss(net(x), y);
        backward(loss);
        neap::optim::clip_grad_norm(net.parameters(), 1.0);
        optimizer.step();
        optimizer.zero_grad();
        return loss.detach();
      },
      options);
  const Tensor x = neap::randn({kBatch, 64});
  double last = 0;
  for (int i = 0; i < 3; ++i) {
    last = step(x, tanh(x)).item();
  }
  std::cout << step.prediction();
  return last;
}

bool run() {
  const double whole = train({});
  const double parts = train({.shards = 8});
  const double again = train({.shards = 8});
  std::printf("losses %.9g, %.9g and %.9g\n", whole, parts, again);
  // Sums are in another order: near the whole's, and always the same.
  return std::abs(parts - whole) < 1e-6 && parts == again;
}

}  // namespace

int main() {
  const bool is_right = run();
  return is_right && neap::memory::domain().stats().live == 0 ? 0 : 1;
}
