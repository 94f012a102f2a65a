// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Derivatives of a plain function: the gradient, a second derivative, and a
// derivative in one direction without a tape.
#include <array>
#include <cmath>
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// The sum of x^3 over the elements of x.
Tensor cubes(const Tensor& x) {
  return sum(x * square(x));
}

bool is_near(double a, double b) {
  return std::abs(a - b) < 1e-12;
}

// Reverse mode: 3 x^2 for every element at once.
bool gradient() {
  const Tensor x = requires_grad_(neap::from_values({1, 2, 3}, {3}, neap::f64));
  const Tensor y = cubes(x);
  backward(y);
  std::printf("y        %s\n", format(y).c_str());
  std::printf("dy/dx    %s\n", format(x.grad()).c_str());
  return is_near(y.item(), 36) && is_near(x.grad().at({2}), 27);
}

// The gradient, recorded, can be differentiated again: 6 x.
bool second_derivative() {
  const Tensor x = requires_grad_(neap::from_values({1, 2, 3}, {3}, neap::f64));
  const auto first = grad(cubes(x), {x}, {.create_graph = true});
  const auto second = grad(sum(first[0]), {x});
  std::printf("d2y/dx2  %s\n", format(second[0]).c_str());
  return is_near(second[0].at({0}), 6) && is_near(second[0].at({2}), 18);
}

// Forward mode: the value and its derivative in a direction, in one pass.
bool directional() {
  const std::array at = {neap::from_values({1, 2, 3}, {3}, neap::f64)};
  const std::array direction = {neap::from_values({1, 0, 1}, {3}, neap::f64)};
  const auto [value, tangent] = neap::jvp(
      [](std::span<const Tensor> x) { return cubes(x[0]); }, at, direction);
  std::printf("dy . v   %s\n", format(tangent).c_str());
  return is_near(value.item(), 36) && is_near(tangent.item(), 3 + 27);
}

}  // namespace

int main() {
  const bool is_right = gradient() && second_derivative() && directional();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
