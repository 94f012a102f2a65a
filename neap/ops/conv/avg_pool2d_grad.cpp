// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/avg_pool2d_grad.hpp"

#include "neap/kernels/conv/avg_pool2d.hpp"
#include "neap/ops/conv/avg_pool2d.hpp"
#include "neap/ops/conv/pool.hpp"

namespace neap::ops {

const Op kAvgPool2dGrad{
    .name = "avg_pool2d_grad",
    .formula = "dx = sum of g / n over the windows of n elements that hold x",
    .infer = infer_pool_grad,
    .kernel = &kernels::avg_pool2d_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, average_images(c.take_cotangent(), c.attrs<PoolAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, avg_pool2d_grad(c.tangent(), c.attrs<PoolAttrs>()));
        },
    .facts = {}};

Tensor avg_pool2d_grad(const Operand& g, const PoolAttrs& attrs) {
  return graph::apply(kAvgPool2dGrad, {g}, attrs);
}

}  // namespace neap::ops
