// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/sum_of_squares.hpp"

#include "neap/kernels/reduction/sum_of_squares.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kSumOfSquares{
    .name = "sum_of_squares",
    .formula = "y = sum x^2, in f64; dx = 2 x dy",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          check_computes("sum_of_squares", args.inputs[0].dtype);
          out[0].dtype = f64;
          out[0].shape = {};
        },
    .kernel = &kernels::sum_of_squares_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor x = c.input(0);
          c.set(0, mul(x, cast(mul(c.take_cotangent(), 2), x.dtype())));
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor product = mul(c.input(), c.tangent());
          c.set(0, mul(cast(sum(product), f64), 2));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}},
              .sample_axis = SampleAxis::kReduced,
              .cost = cost_of_reduction}};

}  // namespace ops

Tensor sum_of_squares(const Operand& x) {
  return graph::apply(ops::kSumOfSquares, {x});
}

}  // namespace neap
