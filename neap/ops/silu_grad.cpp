// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/silu_grad.hpp"

#include "neap/kernels/silu.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/sigmoid.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

namespace {

Tensor silu_slope(const Operand& g, const Operand& x, const NoAttrs&) {
  return silu_grad(g, x);
}

Tensor silu_bend(const Tensor& x, const NoAttrs&) {
  const Tensor s = sigmoid(x);
  return mul(mul(s, sub(1, s)), add(mul(x, sub(1, mul(s, 2))), 2));
}

}  // namespace

const Op kSiluGrad{.name = "silu_grad",
                   .formula = "dx = g s (1 + x (1 - s)), s = sigmoid(x)",
                   .infer =
                       [](const OpArgs& args, std::span<Spec> out) {
                         infer_gradient("silu_grad", args, out[0]);
                       },
                   .kernel = &kernels::silu_grad_kernels,
                   .vjp = vjp_of_slope<NoAttrs, silu_slope, silu_bend>,
                   .jvp = jvp_of_slope<NoAttrs, silu_slope, silu_bend>,
                   .facts = kSlopeFacts};

Tensor silu_grad(const Operand& g, const Operand& x) {
  return graph::apply(kSiluGrad, {g, x});
}

}  // namespace neap::ops
