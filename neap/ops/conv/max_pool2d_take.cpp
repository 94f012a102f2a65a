// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/max_pool2d_take.hpp"

#include "neap/kernels/conv/max_pool2d.hpp"
#include "neap/ops/conv/max_pool2d_grad.hpp"
#include "neap/ops/conv/pool.hpp"

namespace neap::ops {

// Linear in u; the transpose of max_pool2d_grad.
const Op kMaxPool2dTake{
    .name = "max_pool2d_take",
    .formula = "y = the elements of u that were the largest of their windows",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_pool(args, out);
          check_codes("max_pool2d_take", args);
        },
    .kernel = &kernels::max_pool2d_take_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, max_pool2d_grad(c.take_cotangent(), c.input(1),
                                   c.attrs<PoolAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, max_pool2d_take(c.tangent(0), c.input(1),
                                   c.attrs<PoolAttrs>()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {}}}}};

Tensor max_pool2d_take(const Operand& u, const Operand& codes,
                       const PoolAttrs& attrs) {
  return graph::apply(kMaxPool2dTake, {u, codes}, attrs);
}

}  // namespace neap::ops
