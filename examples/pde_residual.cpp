// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A differential equation as a loss: a small network learns the solution of
//
//   u_xx + u_yy = -2 pi^2 sin(pi x) sin(pi y)  inside the unit square,
//   u = 0                                      on its border,
//
// which is sin(pi x) sin(pi y). The second derivatives in x and y come from
// forward mode over forward mode; the gradient of the loss in the
// network's weights from reverse mode over them.
#include <cmath>
#include <cstdio>
#include <numbers>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
using neap::nn::Linear;

constexpr double kPi = std::numbers::pi;
constexpr int kSteps = 600;

struct Net : neap::nn::Layer {
  Linear first{2, 16, true, neap::f64};
  Linear second{16, 16, true, neap::f64};
  Linear last{16, 1, true, neap::f64};

  Net() {
    register_module("first", first);
    register_module("second", second);
    register_module("last", last);
  }
  Tensor forward(const Tensor& xy) const override {
    return last(tanh(second(tanh(first(xy)))));
  }
};

// The network, bent to 0 on the border. xy: (n, 2), u: (n, 1).
Tensor solution(Net& net, const Tensor& xy) {
  const Tensor x = slice(xy, 1, 0, 1);
  const Tensor y = slice(xy, 1, 1, 2);
  return x * (1.0 - x) * y * (1.0 - y) * net(xy) * 16.0;
}

// The second derivative of u along one direction, at every point at once: the
// points do not mix, so one pass serves them all.
Tensor second_derivative(Net& net, const Tensor& xy, const Tensor& direction) {
  const auto u = [&](const Tensor& at) { return solution(net, at); };
  return neap::directional_derivative(u, xy, {direction, direction});
}

struct Grid {
  Tensor xy;     // (n, 2): points inside the square
  Tensor to_x;   // (n, 2): a step in x, everywhere
  Tensor to_y;   // (n, 2): a step in y
  Tensor exact;  // (n, 1)
};

Grid make_grid(std::int64_t side) {
  const Tensor line =
      (neap::arange(side, neap::f64) + 0.5) / static_cast<double>(side);
  const Tensor x = expand(unsqueeze(line, 0), {side, side});
  const Tensor y = expand(unsqueeze(line, 1), {side, side});
  const Tensor zero = neap::zeros({side * side, 1}, neap::f64);
  const Tensor one = neap::ones({side * side, 1}, neap::f64);
  return {.xy = reshape(neap::stack({x, y}, -1), {side * side, 2}),
          .to_x = neap::concat({one, zero}, 1),
          .to_y = neap::concat({zero, one}, 1),
          .exact = reshape(sin(kPi * x) * sin(kPi * y), {side * side, 1})};
}

Tensor residual(Net& net, const Grid& grid) {
  return second_derivative(net, grid.xy, grid.to_x) +
         second_derivative(net, grid.xy, grid.to_y) +
         2.0 * kPi * kPi * grid.exact;
}

double largest_error(Net& net, const Grid& grid) {
  const neap::NoGrad guard;
  return amax(abs(solution(net, grid.xy) - grid.exact)).item();
}

bool run() {
  neap::seed(7);
  Net net;
  const Grid grid = make_grid(9);
  neap::optim::Adam adam(net.parameters(), {.lr = 1e-2});
  for (int i = 0; i < kSteps; ++i) {
    const Tensor loss = mean(square(residual(net, grid)));
    backward(loss);
    adam.step();
    adam.zero_grad();
    if (i == kSteps / 2) {
      adam.set_lr(2e-3);
    }
    if (i % 100 == 0) {
      std::printf("step %3d  residual %9.2e  largest error %.4f\n", i,
                  std::sqrt(loss.item()), largest_error(net, grid));
    }
  }
  const double error = largest_error(net, make_grid(16));
  std::printf("largest error on a finer grid  %.4f\n", error);
  return error < 0.02;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
