// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/tanh_grad.hpp"

#include "neap/kernels/tanh.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kTanhGrad{
    .name = "tanh_grad",
    .formula = "dx = g (1 - y^2), for y = tanh(x)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_gradient("tanh_grad", args, out[0]);
        },
    .kernel = &kernels::tanh_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            c.set(0, tanh_grad(c.cotangent(), c.input(1)));
          }
          if (c.needs(1)) {
            c.set(1, mul(mul(mul(c.input(0), c.input(1)), -2), c.cotangent()));
          }
        },
    .jvp =
        [](JvpContext& c) {
          Tensor d;
          if (c.tangent(0).defined()) {
            d = tanh_grad(c.tangent(0), c.input(1));
          }
          if (c.tangent(1).defined()) {
            d = add_defined(
                std::move(d),
                mul(mul(mul(c.input(0), c.input(1)), -2), c.tangent(1)));
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {.inputs = 0b11}}},
              .donates = 0b11}};

}  // namespace ops

Tensor tanh_grad(const Operand& g, const Operand& y) {
  return graph::apply(ops::kTanhGrad, {g, y});
}

}  // namespace neap
