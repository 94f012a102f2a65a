// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/det.hpp"

#include "neap/kernels/linalg/solve.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/inverse.hpp"
#include "neap/ops/linalg/matrices.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/squeeze.hpp"
#include "neap/ops/shape/transpose.hpp"

namespace neap {
namespace ops {

// The rules: Giles, "An extended collection of matrix derivative results for
// forward and reverse mode algorithmic differentiation", 2008.
const Op kDet{
    .name = "det",
    .formula = "y = det a; da = dy y a^-T",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          check_square("det", args.inputs[0]);
          out[0].dtype = args.inputs[0].dtype;
          out[0].shape = batch_of(args.inputs[0].shape);
        },
    .kernel = &kernels::det_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor scale = mul(c.cotangent(), c.output());
          c.set(0, mul(transpose(inverse_unchecked(c.input(0))),
                       unsqueeze(unsqueeze(scale, -1), -1)));
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor back = transpose(inverse_unchecked(c.input()));
          c.set(0, mul(sum(mul(back, c.tangent()), {-2, -1}), c.output()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b1}}},
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                const Shape& a = args.inputs[0].shape;
                return moving(args, outputs,
                              a.element_count() * a.back(1) * 2 / 3);
              }}};

}  // namespace ops

Tensor det(const Operand& a) {
  ops::tensor_of("det", a);
  return graph::apply(ops::kDet, {a});
}

}  // namespace neap
