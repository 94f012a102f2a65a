// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/sum.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/sum.hpp"
#include "neap/kernels/reduction/sum_of_squares.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kSum{
    .name = "sum",
    .formula = "y = sum of x over some axes, which stay with extent 1",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const DType dtype = args.inputs[0].dtype;
          if (dtype == bf16) {
            check_computes("sum", dtype);
          }
          out[0].dtype = is_floating(dtype) ? dtype : i64;
          out[0].shape = reduced(args.inputs[0].shape,
                                 args.attrs.as<kernels::ReduceAttrs>().axes);
        },
    .kernel = &kernels::sum_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, expand(c.take_cotangent(), c.input_shape(0)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, sum_axes(c.tangent(), c.attrs<kernels::ReduceAttrs>().axes));
        },
    .facts = {.vjp_reads = {{{.shapes = 0b1}}},
              .rows = rows_of_sum,
              .cost = cost_of_reduction}};

Tensor sum_axes(const Operand& x, std::uint64_t axes) {
  return axes == 0 && is_floating(tensor_of("sum", x).dtype())
             ? x.tensor()
             : graph::apply(kSum, {x}, kernels::ReduceAttrs{axes});
}

}  // namespace ops

Tensor sum(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("sum", x, ops::sum_axes);
}

Tensor sum(const TensorOperand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("sum", x, axes, keepdim, ops::sum_axes);
}

Tensor mean(const TensorOperand& x) {
  const ops::AtSite here(x);
  const double count =
      static_cast<double>(ops::tensor_of("mean", x).element_count());
  return div(sum(x), count);
}

Tensor mean(const TensorOperand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  const Shape shape = ops::tensor_of("mean", x).shape();
  const std::uint64_t mask = ops::axes_mask("mean", axes, shape.rank());
  double count = 1.0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    count *= ops::has_axis(mask, axis) ? static_cast<double>(shape[axis]) : 1.0;
  }
  return div(sum(x, axes, keepdim), count);
}

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
              .rows = rows_summed,
              .cost = cost_of_reduction}};

}  // namespace ops

Tensor sum_of_squares(const TensorOperand& x) {
  return graph::apply(ops::kSumOfSquares, {x});
}

}  // namespace neap
