// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/gelu_grad.hpp"

#include "neap/kernels/gelu.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/exp.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/sigmoid.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

namespace {

Tensor gelu_slope(const Operand& g, const Operand& x, const NoAttrs&) {
  return gelu_grad(g, x);
}

Tensor gelu_bend(const Tensor& x, const NoAttrs&) {
  // (2 - x^2) e^(-x^2 / 2) / sqrt(2 pi)
  const Tensor xx = square(x);
  return mul(mul(exp(mul(xx, -0.5)), sub(2, xx)), 0.39894228040143268);
}

Tensor gelu_tanh_slope(const Operand& g, const Operand& x, const NoAttrs&) {
  return gelu_tanh_grad(g, x);
}

Tensor gelu_tanh_bend(const Tensor& x, const NoAttrs&) {
  // s (1 - s) (2 a + x ((1 - 2 s) a^2 + a')), a = du/dx twice
  constexpr double kTwiceRoot = 1.5957691216057308;  // 2 sqrt(2 / pi)
  constexpr double kCubic = 0.044715;
  const Tensor xx = square(x);
  const Tensor s = sigmoid(mul(mul(x, add(mul(xx, kCubic), 1)), kTwiceRoot));
  const Tensor a = mul(add(mul(xx, 3 * kCubic), 1), kTwiceRoot);
  const Tensor da = mul(x, 6 * kCubic * kTwiceRoot);
  const Tensor inner = add(mul(sub(1, mul(s, 2)), square(a)), da);
  return mul(mul(s, sub(1, s)), add(mul(a, 2), mul(x, inner)));
}

}  // namespace

const Op kGeluGrad{
    .name = "gelu_grad",
    .formula = "dx = g (P(x) + x P'(x)), P(x) = (1 + erf(x / sqrt 2)) / 2",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_gradient("gelu_grad", args, out[0]);
        },
    .kernel = &kernels::gelu_grad_kernels,
    .vjp = vjp_of_slope<NoAttrs, gelu_slope, gelu_bend>,
    .jvp = jvp_of_slope<NoAttrs, gelu_slope, gelu_bend>,
    .facts = kSlopeFacts};

Tensor gelu_grad(const Operand& g, const Operand& x) {
  return graph::apply(kGeluGrad, {g, x});
}

const Op kGeluTanhGrad{
    .name = "gelu_tanh_grad",
    .formula = "dx = g (s + x s'), s = sigmoid(2 u(x)), of gelu's form by tanh",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_gradient("gelu_tanh_grad", args, out[0]);
        },
    .kernel = &kernels::gelu_tanh_grad_kernels,
    .vjp = vjp_of_slope<NoAttrs, gelu_tanh_slope, gelu_tanh_bend>,
    .jvp = jvp_of_slope<NoAttrs, gelu_tanh_slope, gelu_tanh_bend>,
    .facts = kSlopeFacts};

Tensor gelu_tanh_grad(const Operand& g, const Operand& x) {
  return graph::apply(kGeluTanhGrad, {g, x});
}

}  // namespace neap::ops
