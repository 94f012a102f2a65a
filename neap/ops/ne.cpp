// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/ne.hpp"

#include "neap/kernels/compare.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kNe{
    .name = "ne",
    .formula = "y = a != b",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_comparison("ne", args, out[0]); },
    .kernel = &kernels::ne_kernels,
    .facts = {}};

}  // namespace ops

Tensor ne(const Operand& a, const Operand& b) {
  const ops::Operands both("ne", a, b);
  return graph::apply(ops::kNe, {both.a(), both.b()});
}

}  // namespace neap
