// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/ge.hpp"

#include "neap/kernels/compare.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kGe{
    .name = "ge",
    .formula = "y = a >= b",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_comparison("ge", args, out[0]); },
    .kernel = &kernels::ge_kernels,
    .facts = {}};

}  // namespace ops

Tensor ge(const Operand& a, const Operand& b) {
  const ops::Operands both("ge", a, b);
  return graph::apply(ops::kGe, {both.a(), both.b()});
}

}  // namespace neap
