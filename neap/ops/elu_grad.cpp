// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elu_grad.hpp"

#include "neap/kernels/elu.hpp"
#include "neap/ops/cast.hpp"
#include "neap/ops/le.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

using kernels::EluAttrs;

namespace {

Tensor elu_slope(const Operand& g, const Operand& y, const EluAttrs& attrs) {
  return elu_grad(g, y, attrs);
}

Tensor elu_bend(const Tensor& y, const EluAttrs&) {
  return cast(le(y, 0), y.dtype());
}

}  // namespace

const Op kEluGrad{.name = "elu_grad",
                  .formula = "dx = y > 0 ? g : g (y + alpha), for y = elu(x)",
                  .infer =
                      [](const OpArgs& args, std::span<Spec> out) {
                        infer_gradient("elu_grad", args, out[0]);
                      },
                  .kernel = &kernels::elu_grad_kernels,
                  .vjp = vjp_of_slope<EluAttrs, elu_slope, elu_bend>,
                  .jvp = jvp_of_slope<EluAttrs, elu_slope, elu_bend>,
                  .facts = kSlopeFacts};

Tensor elu_grad(const Operand& g, const Operand& y, const EluAttrs& attrs) {
  return graph::apply(kEluGrad, {g, y}, attrs);
}

}  // namespace neap::ops
