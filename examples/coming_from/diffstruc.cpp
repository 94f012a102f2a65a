// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The programs of docs/coming-from/diffstruc.md.
#include <array>
#include <cmath>
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

bool is_near(double a, double b) {
  return std::abs(a - b) <= 1e-9 * (1 + std::abs(b));
}

Tensor number(double value) {
  return neap::scalar(value, neap::f64);
}

bool one_derivative() {
  const Tensor x = requires_grad_(number(3));
  const Tensor f = pow(x, 3.0) + 2.0 * square(x);
  backward(f);
  std::printf("f = %g, df/dx = %g\n", f.item(), x.grad().item());
  return x.grad().item() == 39;
}

bool several_derivatives() {
  const Tensor x = requires_grad_(number(2));
  const Tensor y = requires_grad_(number(3));
  const Tensor f = square(x) * pow(y, 3.0);
  const auto by_x = grad(f, {x}, {.create_graph = true});
  const auto by_x_y = grad(by_x[0], {x, y});
  std::printf("d2f/dx2 = %g, d2f/dxdy = %g\n", by_x_y[0].item(),
              by_x_y[1].item());
  return by_x_y[0].item() == 54 && by_x_y[1].item() == 108;
}

bool third_derivative() {
  const Tensor x = requires_grad_(number(2));
  Tensor f = pow(x, 5.0);
  for (int order = 1; order <= 3; ++order) {
    f = grad(f, {x}, {.create_graph = true})[0];
  }
  return is_near(f.item(), 240);
}

bool along_a_direction() {
  const Tensor x = neap::from_values({1, 2}, {2}, neap::f64);
  const Tensor direction = neap::from_values({1, 0}, {2}, neap::f64);
  const auto f = [](const Tensor& at) { return sum(square(at)); };
  const neap::JvpResult along = neap::jvp(f, x, direction);
  return along.value.item() == 5 && along.tangent.item() == 2;
}

// x^2 + x y + y^2.
bool hessian_matrix() {
  const auto f = [](const Tensor& at) {
    return sum(square(at)) + select(at, 0, 0) * select(at, 0, 1);
  };
  const Tensor h = neap::hessian(f, neap::ones({2}, neap::f64));
  std::printf("%s\n", format(h).c_str());
  return h.at({0, 0}) == 2 && h.at({0, 1}) == 1 && h.at({1, 0}) == 1;
}

bool descent() {
  const Tensor x = requires_grad_(number(0));
  for (int epoch = 0; epoch < 50; ++epoch) {
    backward(square(x - 5.0));
    const neap::NoGrad guard;
    copy_(x, x - 0.1 * x.grad());
    zero_grad(std::array{x});
  }
  return std::abs(x.item() - 5) < 1e-3;
}

bool samples() {
  const Tensor x = neap::ones({8, 3}, neap::f64);  // 8 samples of 3 numbers
  const Tensor bias = requires_grad_(neap::zeros({3}, neap::f64));
  backward(sum(x + bias));
  return bias.grad().at({0}) == 8;  // the sum over the samples
}

bool reuse() {
  const Tensor workspace = neap::zeros({100, 100}, neap::f64);
  for (int i = 0; i < 1000; ++i) {
    fill_(workspace, i);
  }
  return workspace.at({99, 99}) == 999;
}

bool run() {
  return one_derivative() && several_derivatives() && third_derivative() &&
         along_a_direction() && hessian_matrix() && descent() && samples() &&
         reuse();
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
