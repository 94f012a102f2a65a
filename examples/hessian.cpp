// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The Hessian of a small network's loss in all of its weights, and what it
// says: whether the loss is curved upwards here, and how fast it changes along
// a direction. The weights are one vector, of which the layers are views.
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

constexpr std::int64_t kIn = 2;
constexpr std::int64_t kHidden = 4;
constexpr std::int64_t kWeights = kIn * kHidden + kHidden + kHidden + 1;

// x: (n, 2), w: (17); gives (n).
Tensor network(const Tensor& w, const Tensor& x) {
  const Tensor w1 = reshape(narrow(w, 0, 0, kIn * kHidden), {kIn, kHidden});
  const Tensor b1 = narrow(w, 0, kIn * kHidden, kHidden);
  const Tensor w2 = narrow(w, 0, (kIn + 1) * kHidden, kHidden);
  const Tensor b2 = select(w, 0, kWeights - 1);
  return matmul(tanh(matmul(x, w1) + b1), w2) + b2;
}

struct Task {
  Tensor x;
  Tensor target;

  // The loss, as a function of the weights.
  Tensor operator()(const Tensor& w) const {
    return mean(square(network(w, x) - target));
  }
};

// How far the Hessian times v is from what differences of gradients say.
double error_along(const Task& task, const Tensor& w, const Tensor& h,
                   const Tensor& v) {
  constexpr double kStep = 1e-5;
  const auto gradient = [&](const Tensor& at) {
    return neap::hvp(task, at, v).gradient;
  };
  const Tensor ahead = gradient(w + kStep * v);
  const Tensor behind = gradient(w - kStep * v);
  const Tensor difference = (ahead - behind) / (2 * kStep);
  return norm(matmul(h, v) - difference).item();
}

bool run() {
  neap::seed(5);
  const Tensor x = neap::randn({32, kIn}, neap::f64);
  const Task task{x, sin(sum(x, {1}))};
  const Tensor w = neap::randn({kWeights}, neap::f64);
  const Tensor v = neap::randn({kWeights}, neap::f64);

  const Tensor h = neap::hessian(task, w);
  const double asymmetry = amax(abs(h - transpose(h, 0, 1))).item();
  const double error = error_along(task, w, h, v);
  // One direction needs no matrix.
  const Tensor product = neap::hvp(task, w, v).product;
  const double apart = amax(abs(matmul(h, v) - product)).item();
  const double curvature = dot(v, matmul(h, v)).item() / dot(v, v).item();
  std::printf("shape      %s\n", neap::format_shape(h.shape()).c_str());
  std::printf("trace      %.6f\n", sum(diagonal(h)).item());
  std::printf("curvature  %.6f along a direction\n", curvature);
  std::printf("asymmetry %.1e, differences %.1e\n", asymmetry, error);
  return asymmetry < 1e-12 && error < 1e-7 && apart < 1e-12;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
