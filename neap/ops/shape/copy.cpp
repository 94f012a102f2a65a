// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/copy.hpp"

#include "neap/kernels/engine/copy.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kCopy{
    .name = "copy",
    .formula = "y = x",
    .infer = infer_same,
    .kernel = &kernels::copy_kernels,
    .vjp = [](VjpContext& c) { c.set(0, c.take_cotangent()); },
    .jvp = [](JvpContext& c) { c.set(0, copy(c.tangent())); },
    .facts = {.cost = [](const OpArgs& args, std::span<const Spec> outputs) {
      return moving(args, outputs, 0);
    }}};

}  // namespace ops

Tensor copy(const Operand& x) {
  return graph::apply(ops::kCopy, {x});
}

}  // namespace neap
