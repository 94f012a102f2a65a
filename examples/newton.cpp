// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Newton's method, twice, on a logistic regression: once with the whole Hessian
// and a solve, once without any matrix, by conjugate gradients over products of
// the Hessian with vectors. Both end at the same weights, in a few steps.
#include <cmath>
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

constexpr std::int64_t kSamples = 400;
constexpr std::int64_t kFeatures = 6;

struct Data {
  Tensor x;      // (samples, features)
  Tensor label;  // (samples): -1 or 1

  // The mean of log(1 + exp(-label x.w)), and a little weight decay.
  Tensor loss(const Tensor& w) const {
    return mean(softplus(-label * matmul(x, w))) + 1e-3 * sum(square(w));
  }
};

// Labels of a hidden plane, a little noise.
Data make_data() {
  neap::seed(3);
  const Tensor x = neap::randn({kSamples, kFeatures}, neap::f64);
  const Tensor plane = neap::randn({kFeatures}, neap::f64);
  const Tensor noise = neap::randn({kSamples}, neap::f64);
  return {.x = x, .label = sign(matmul(x, plane) + noise)};
}

Tensor gradient(const Data& data, const Tensor& at) {
  const Tensor w = requires_grad_(at.detach());
  return grad(data.loss(w), {w})[0];
}

Tensor newton(const Data& data) {
  const auto loss = [&](const Tensor& w) { return data.loss(w); };
  Tensor w = neap::zeros({kFeatures}, neap::f64);
  for (int i = 0; i < 8; ++i) {
    const Tensor slope = gradient(data, w);
    std::printf("newton     step %d  |gradient| %.1e\n", i, norm(slope).item());
    w = w - solve(neap::hessian(loss, w), slope);
  }
  return w;
}

// Solves H d = b (H: the Hessian at w) without H. It ends after as many rounds
// as there are unknowns, or when nothing is left.
Tensor conjugate_gradients(const Data& data, const Tensor& w, const Tensor& b) {
  const auto loss = [&](const Tensor& at) { return data.loss(at); };
  Tensor d = zeros_like(b);
  Tensor rest = b;
  Tensor direction = b;
  double square_now = dot(rest, rest).item();
  const double enough = 1e-24 * square_now;
  for (std::int64_t i = 0; i < kFeatures && square_now > enough; ++i) {
    const Tensor bent = neap::hvp(loss, w, direction).product;
    const double length = square_now / dot(direction, bent).item();
    d = d + length * direction;
    rest = rest - length * bent;
    const double square_next = dot(rest, rest).item();
    direction = rest + square_next / square_now * direction;
    square_now = square_next;
  }
  return d;
}

Tensor newton_without_matrix(const Data& data) {
  Tensor w = neap::zeros({kFeatures}, neap::f64);
  for (int i = 0; i < 8; ++i) {
    const Tensor slope = gradient(data, w);
    std::printf("matrix-free step %d  |gradient| %.1e\n", i,
                norm(slope).item());
    w = w - conjugate_gradients(data, w, slope);
  }
  return w;
}

bool run() {
  const Data data = make_data();
  const Tensor w = newton(data);
  const Tensor v = newton_without_matrix(data);
  std::printf("weights  %s\n", format(w).c_str());
  return norm(gradient(data, w)).item() < 1e-12 && norm(w - v).item() < 1e-9;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
