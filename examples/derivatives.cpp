// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Derivatives of functions: products with the Jacobian and with the Hessian,
// both matrices in full, mixed derivatives, and a loss made of derivatives.
#include <array>
#include <cmath>
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
using Inputs = std::span<const Tensor>;

bool is_near(double a, double b) {
  return std::abs(a - b) < 1e-12 * (1 + std::abs(b));
}

Tensor vector(std::initializer_list<double> values) {
  return neap::from_values(values, {static_cast<std::int64_t>(values.size())},
                           neap::f64);
}

Tensor number(double value) {
  return neap::scalar(value, neap::f64);
}

// Rosenbrock's valley: (1 - a)^2 + 100 (b - a^2)^2.
Tensor valley(const Tensor& x) {
  const Tensor a = select(x, 0, 0);
  const Tensor b = select(x, 0, 1);
  return square(1 - a) + 100 * square(b - square(a));
}

bool products() {
  const Tensor x = vector({1, 2});
  const Tensor v = vector({1, 0});

  // One pass each: along a direction, from a cotangent, and the Hessian's.
  const auto [value, slope] = neap::jvp(valley, x, v);
  const auto [again, pullback] = neap::vjp(valley, x);
  const Tensor gradient = pullback(number(1))[0];
  const neap::HvpResult curved = neap::hvp(valley, x, v);

  return is_near(value.item(), 100) && is_near(again.item(), 100) &&
         is_near(slope.item(), -400) && is_near(gradient.at({1}), 200) &&
         is_near(curved.product.at({0}), 402) &&
         is_near(curved.product.at({1}), -400);
}

bool matrices() {
  const Tensor x = vector({1, 2});
  const auto polar = [](const Tensor& p) {
    const Tensor r = select(p, 0, 0);
    const Tensor t = select(p, 0, 1);
    return neap::stack({r * cos(t), r * sin(t)});
  };
  const Tensor j = neap::jacobian(polar, x);  // [i, j] = d f_i / d x_j
  const Tensor h = neap::hessian(valley, x);  // [i, j] = d2 f / d x_i d x_j
  const Tensor columns =
      neap::jacobian(polar, x, {.mode = neap::JacobianMode::kForward});
  std::printf("%s\n%s\n", format(j).c_str(), format(h).c_str());
  return is_near(j.at({0, 1}), -std::sin(2)) && is_near(h.at({1, 1}), 200) &&
         is_near(h.at({0, 1}), h.at({1, 0})) &&
         is_near(columns.at({1, 1}), std::cos(2));
}

// u(x, t) = sin(x) e^-t: u_xx = -u and u_xt = -cos(x) e^-t.
bool mixed() {
  const auto u = [](Inputs at) { return sin(at[0]) * exp(-at[1]); };
  const std::array at = {number(0.5), number(0.2)};
  const std::array by_x = {number(1), Tensor()};  // undefined: does not move
  const std::array by_t = {Tensor(), number(1)};
  const Tensor u_xx =
      neap::directional_derivative(u, at, std::array<Inputs, 2>{by_x, by_x});
  const Tensor u_xt =
      neap::directional_derivative(u, at, std::array<Inputs, 2>{by_x, by_t});
  return is_near(u_xx.item(), -std::sin(0.5) * std::exp(-0.2)) &&
         is_near(u_xt.item(), -std::cos(0.5) * std::exp(-0.2));
}

// A loss made of derivatives: how far u = a sin(w x) is from u'' + u = 0.
bool residual() {
  const Tensor a = requires_grad_(number(2));
  const Tensor w = requires_grad_(number(1.5));
  const Tensor x = vector({0.1, 0.7, 1.3});
  const Tensor one = ones_like(x);
  const auto u = [&](const Tensor& at) { return a * sin(w * at); };

  const Tensor second = neap::directional_derivative(u, x, {one, one});
  const Tensor loss = mean(square(second + u(x)));
  backward(loss);

  // u'' + u = (1 - w^2) u, and the loss is a square in a.
  return is_near(a.grad().item(), 2 * loss.item() / 2) && w.grad().item() > 0;
}

// Gradients are a value, to look at and to change before a step.
bool gradients() {
  const Tensor x = requires_grad_(number(3));
  const Tensor w = requires_grad_(number(5));
  neap::Gradients g = grad(square(x) * w, {x, w});
  g.replace(w, neap::clip(g.get(w), -1, 1));
  const Tensor taken = g.take(x);
  return is_near(taken.item(), 30) && is_near(g.get(w).item(), 1) &&
         !x.grad().defined();
}

}  // namespace

int main() {
  const bool is_right =
      products() && matrices() && mixed() && residual() && gradients();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
