// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/logsumexp.hpp"

#include <limits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/logsumexp.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::ReduceAttrs;

// e^(x - y), and 0 where both are -inf.
Tensor softmax_of(const Tensor& x, const Tensor& y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return exp(sub(x, where(eq(y, -kInfinity), 0, y)));
}

Tensor logsumexp_axes(const Operand& x, std::uint64_t axes) {
  return graph::apply(kLogsumexp, {x}, ReduceAttrs{axes});
}

}  // namespace

const Op kLogsumexp{
    .name = "logsumexp",
    .formula =
        "y = ln sum e^x over some axes, which stay with extent 1; dx = dy e^(x "
        "- y)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating(args, out);
          out[0].shape =
              reduced(args.inputs[0].shape, args.attrs.as<ReduceAttrs>().axes);
        },
    .kernel = &kernels::logsumexp_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(softmax_of(c.input(0), c.output()), c.take_cotangent()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, sum_axes(mul(softmax_of(c.input(), c.output()), c.tangent()),
                            c.attrs<ReduceAttrs>().axes));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b1}}},
              .rows = rows_of_reduction,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              4 * args.inputs[0].shape.element_count());
              }}};

}  // namespace ops

Tensor logsumexp(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("logsumexp", x, ops::logsumexp_axes);
}

Tensor logsumexp(const TensorOperand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("logsumexp", x, axes, keepdim, ops::logsumexp_axes);
}

}  // namespace neap
