// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/inverse.hpp"

#include "neap/kernels/linalg/solve.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/linalg/matrices.hpp"
#include "neap/ops/shape/transpose.hpp"

namespace neap {
namespace ops {

// The rules: Giles, "An extended collection of matrix derivative results for
// forward and reverse mode algorithmic differentiation", 2008.
const Op kInverse{
    .name = "inverse",
    .formula = "y = a^-1; da = -y^T dy y^T",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          check_square("inverse", args.inputs[0]);
          infer_floating(args, out);
        },
    .kernel = &kernels::inverse_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor y = transpose(c.output());
          c.set(0, neg(matmul(matmul(y, c.cotangent()), y)));
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor& y = c.output();
          c.set(0, neg(matmul(matmul(y, c.tangent()), y)));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              2 * outputs[0].shape.element_count() *
                                  outputs[0].shape.back(1));
              }}};

Tensor inverse_unchecked(const Operand& a) {
  return graph::apply(kInverse, {a});
}

}  // namespace ops

Tensor inverse(const Operand& a) {
  ops::tensor_of("inverse", a);
  Tensor y = ops::inverse_unchecked(a);
  ops::check_factored("inverse", y, "is singular, or not a number");
  return y;
}

}  // namespace neap
