// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/max_pool2d_grad.hpp"

#include "neap/kernels/conv/max_pool2d_grad.hpp"
#include "neap/ops/conv/max_pool2d_take.hpp"
#include "neap/ops/conv/pool.hpp"

namespace neap::ops {

// Linear in g; the transpose of max_pool2d_take.
const Op kMaxPool2dGrad{
    .name = "max_pool2d_grad",
    .formula = "dx = sum of g over the windows whose largest element x was",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_pool_grad(args, out);
          check_codes("max_pool2d_grad", args);
        },
    .kernel = &kernels::max_pool2d_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, max_pool2d_take(c.take_cotangent(), c.input(1),
                                   c.attrs<PoolAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, max_pool2d_grad(c.tangent(0), c.input(1),
                                   c.attrs<PoolAttrs>()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {}}}}};

Tensor max_pool2d_grad(const Operand& g, const Operand& codes,
                       const PoolAttrs& attrs) {
  return graph::apply(kMaxPool2dGrad, {g, codes}, attrs);
}

}  // namespace neap::ops
