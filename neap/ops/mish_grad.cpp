// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/mish_grad.hpp"

#include "neap/kernels/mish.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/sigmoid.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/softplus.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/tanh.hpp"

namespace neap::ops {

namespace {

Tensor mish_slope(const Operand& g, const Operand& x, const NoAttrs&) {
  return mish_grad(g, x);
}

Tensor mish_bend(const Tensor& x, const NoAttrs&) {
  // (1 - w^2) s (2 + x ((1 - s) - 2 w s)), s = sigmoid(x)
  const Tensor s = sigmoid(x);
  const Tensor w = tanh(softplus(x));
  const Tensor inner = sub(sub(1, s), mul(mul(w, s), 2));
  return mul(mul(sub(1, square(w)), s), add(mul(x, inner), 2));
}

}  // namespace

const Op kMishGrad{.name = "mish_grad",
                   .formula = "dx = g (w + x w'), w = tanh(ln(1 + e^x))",
                   .infer =
                       [](const OpArgs& args, std::span<Spec> out) {
                         infer_gradient("mish_grad", args, out[0]);
                       },
                   .kernel = &kernels::mish_grad_kernels,
                   .vjp = vjp_of_slope<NoAttrs, mish_slope, mish_bend>,
                   .jvp = jvp_of_slope<NoAttrs, mish_slope, mish_bend>,
                   .facts = kSlopeFacts};

Tensor mish_grad(const Operand& g, const Operand& x) {
  return graph::apply(kMishGrad, {g, x});
}

}  // namespace neap::ops
