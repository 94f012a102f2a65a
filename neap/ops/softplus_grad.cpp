// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/softplus_grad.hpp"

#include "neap/kernels/softplus.hpp"
#include "neap/ops/gt.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/sigmoid.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/where.hpp"

namespace neap::ops {

using kernels::SoftplusAttrs;

namespace {

Tensor softplus_slope(const Operand& g, const Operand& x,
                      const SoftplusAttrs& attrs) {
  return softplus_grad(g, x, attrs);
}

Tensor softplus_bend(const Tensor& x, const SoftplusAttrs& attrs) {
  const Tensor z = mul(x, attrs.beta);
  const Tensor s = sigmoid(z);
  return where(gt(z, attrs.threshold), 0, mul(mul(s, sub(1, s)), attrs.beta));
}

}  // namespace

const Op kSoftplusGrad{
    .name = "softplus_grad",
    .formula = "dx = g sigmoid(beta x), and g where beta x > threshold",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_gradient("softplus_grad", args, out[0]);
        },
    .kernel = &kernels::softplus_grad_kernels,
    .vjp = vjp_of_slope<SoftplusAttrs, softplus_slope, softplus_bend>,
    .jvp = jvp_of_slope<SoftplusAttrs, softplus_slope, softplus_bend>,
    .facts = kSlopeFacts};

Tensor softplus_grad(const Operand& g, const Operand& x,
                     const SoftplusAttrs& attrs) {
  return graph::apply(kSoftplusGrad, {g, x}, attrs);
}

}  // namespace neap::ops
