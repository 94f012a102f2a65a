// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The programs of docs/coming-from/pytorch.md.
#include <array>
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

struct Net : neap::nn::Layer {
  neap::nn::Linear fc1{20, 32};
  neap::nn::LayerNorm norm{{32}};
  neap::nn::Linear fc2{32, 3};

  Net() {
    register_module("fc1", fc1);
    register_module("norm", norm);
    register_module("fc2", fc2);
  }
  Tensor forward(const Tensor& x) const override {
    return fc2(dropout(gelu(norm(fc1(x))), 0.1, is_training()));
  }
};

double train(Net& net, int steps) {
  neap::optim::AdamW adam(net.parameters(), {.lr = 1e-3});
  double last = 0.0;
  for (int i = 0; i < steps; ++i) {
    const Tensor x = neap::randn({64, 20});
    const Tensor y = argmax(slice(x, 1, 0, 3), 1);
    const Tensor loss = cross_entropy(net(x), y);
    adam.zero_grad();
    backward(loss);
    neap::optim::clip_grad_norm(net.parameters(), 1.0);
    adam.step();
    last = loss.item();
  }
  return last;
}

// torch.compile, of the whole step.
double train_compiled(Net& net, int steps) {
  neap::optim::AdamW adam(net.parameters(), {.lr = 1e-3});
  auto step = neap::compile([&](const Tensor& x, const Tensor& y) {
    Tensor loss = cross_entropy(net(x), y);
    adam.zero_grad();
    backward(loss);
    neap::optim::clip_grad_norm(net.parameters(), 1.0);
    adam.step();
    return loss;
  });
  double last = 0.0;
  for (int i = 0; i < steps; ++i) {
    const Tensor x = neap::randn({64, 20});
    const Tensor y = argmax(slice(x, 1, 0, 3), 1);
    last = step(x, y).item();
  }
  return last;
}

bool evaluate(Net& net) {
  net.eval();
  const neap::NoGrad guard;
  const Tensor x = neap::randn({500, 20});
  const Tensor y = argmax(slice(x, 1, 0, 3), 1);
  return neap::nn::accuracy(net(x), y) > 0.8;
}

// torch.autograd.grad, twice.
bool second_derivative() {
  const Tensor x = requires_grad_(neap::from_values({1, 2}, {2}));
  const Tensor y = sum(pow(x, 3.0));
  const auto first = grad(y, {x}, {.create_graph = true});
  const auto second = grad(sum(first[0]), {x});
  return second[0].at({1}) == 12;
}

bool run() {
  neap::seed(0);
  Net net;
  const double loss = train(net, 300);
  std::printf("loss  %.4f\n", loss);
  neap::seed(0);
  Net twin;
  const bool is_same = train_compiled(twin, 300) == loss;
  return is_same && loss < 0.7 && evaluate(net) && second_derivative();
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
