// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/le.hpp"

#include "neap/kernels/compare.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kLe{
    .name = "le",
    .formula = "y = a <= b",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_comparison("le", args, out[0]); },
    .kernel = &kernels::le_kernels,
    .facts = {}};

}  // namespace ops

Tensor le(const Operand& a, const Operand& b) {
  const ops::Operands both("le", a, b);
  return graph::apply(ops::kLe, {both.a(), both.b()});
}

}  // namespace neap
