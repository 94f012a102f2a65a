// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/extremes.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/amax.hpp"
#include "neap/kernels/reduction/argmax.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::ReduceAttrs;

// `has_default`: there is something to choose of no elements.
void infer_choice(const OpArgs& args, std::span<Spec> out, bool has_default) {
  infer_same(args, out);
  if (out[0].dtype != u8 && out[0].dtype != boolean) {
    check_signed(args.name, out[0].dtype);
  }
  const Shape& shape = args.inputs[0].shape;
  out[0].shape = reduced(shape, args.attrs.as<ReduceAttrs>().axes);
  if (shape.element_count() == 0 && out[0].shape.element_count() != 0 &&
      !has_default) {
    raise<ValueError>("{}: shape {} has no element to choose from", args.name,
                      format_shape(shape));
  }
}

void infer_extreme(const OpArgs& args, std::span<Spec> out) {
  infer_choice(args, out, args.inputs[0].dtype == boolean);
}

void infer_position(const OpArgs& args, std::span<Spec> out) {
  infer_choice(args, out, false);
  out[0].dtype = i64;
}

// 1 / n where x is one of the n chosen elements, else 0.
Tensor shares(const Tensor& x, const Tensor& y, std::uint64_t axes) {
  const Tensor is_chosen = cast(eq(x, y), x.dtype());
  return div(is_chosen, sum_axes(is_chosen, axes));
}

void extreme_vjp(VjpContext& c) {
  c.set(0, mul(shares(c.input(0), c.output(), c.attrs<ReduceAttrs>().axes),
               c.take_cotangent()));
}

void extreme_jvp(JvpContext& c) {
  const std::uint64_t axes = c.attrs<ReduceAttrs>().axes;
  c.set(0,
        sum_axes(mul(shares(c.input(), c.output(), axes), c.tangent()), axes));
}

constexpr graph::Facts kFacts = {
    .vjp_reads = {{{.inputs = 0b1, .outputs = 0b1}}},
    .rows = rows_of_reduction,
    .cost = cost_of_reduction};

Tensor extreme_axes(const Op& op, const Operand& x, std::uint64_t axes) {
  return axes == 0 ? tensor_of(op.name, x)
                   : graph::apply(op, {x}, ReduceAttrs{axes});
}

}  // namespace

const Op kAmax{
    .name = "amax",
    .formula =
        "y = max of x over some axes, which stay with extent 1; equal largest "
        "elements share dy equally",
    .infer = infer_extreme,
    .kernel = &kernels::amax_kernels,
    .vjp = extreme_vjp,
    .jvp = extreme_jvp,
    .facts = kFacts};

const Op kAmin{
    .name = "amin",
    .formula =
        "y = min of x over some axes, which stay with extent 1; equal smallest "
        "elements share dy equally",
    .infer = infer_extreme,
    .kernel = &kernels::amin_kernels,
    .vjp = extreme_vjp,
    .jvp = extreme_jvp,
    .facts = kFacts};

Tensor amax_axes(const Operand& x, std::uint64_t axes) {
  return extreme_axes(kAmax, x, axes);
}

Tensor amin_axes(const Operand& x, std::uint64_t axes) {
  return extreme_axes(kAmin, x, axes);
}

}  // namespace ops

Tensor amax(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("amax", x, ops::amax_axes);
}

Tensor amax(const TensorOperand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("amax", x, axes, keepdim, ops::amax_axes);
}

Tensor amin(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("amin", x, ops::amin_axes);
}

Tensor amin(const TensorOperand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("amin", x, axes, keepdim, ops::amin_axes);
}

namespace {

ValuesAndIndices chosen(std::string_view op, const Operand& x,
                        std::int64_t axis, bool keepdim, bool is_max) {
  const ops::AtSite here(x);
  const Tensor& value = ops::tensor_of(op, x);
  const int along = base::normalize_axis(op, axis, value.rank());
  if (value.shape()[along] == 0) {
    base::raise<ValueError>("{}: axis {} of {} is empty", op, along,
                            format_shape(value.shape()));
  }
  const Tensor at = is_max ? argmax(x, along, true) : argmin(x, along, true);
  const Tensor best = ops::gather_checked(value, along, at);
  if (keepdim) {
    return {best, at};
  }
  const std::uint64_t mask = ops::axis_bit(along);
  return {ops::without_axes(best, mask), ops::without_axes(at, mask)};
}

}  // namespace

ValuesAndIndices max(const TensorOperand& x, std::int64_t axis, bool keepdim) {
  return chosen("max", x, axis, keepdim, true);
}

ValuesAndIndices min(const TensorOperand& x, std::int64_t axis, bool keepdim) {
  return chosen("min", x, axis, keepdim, false);
}

namespace ops {
namespace {

Tensor argmax_axes(const Operand& x, std::uint64_t axes) {
  return graph::apply(kArgmax, {x}, ReduceAttrs{axes});
}

Tensor argmin_axes(const Operand& x, std::uint64_t axes) {
  return graph::apply(kArgmin, {x}, ReduceAttrs{axes});
}

}  // namespace

const Op kArgmax{
    .name = "argmax",
    .formula =
        "y = position of the first largest element of some axes, which stay "
        "with extent 1",
    .infer = infer_position,
    .kernel = &kernels::argmax_kernels,
    .facts = {.rows = rows_of_reduction, .cost = cost_of_reduction}};

const Op kArgmin{
    .name = "argmin",
    .formula =
        "y = position of the first smallest element of some axes, which stay "
        "with extent 1",
    .infer = infer_position,
    .kernel = &kernels::argmin_kernels,
    .facts = {.rows = rows_of_reduction, .cost = cost_of_reduction}};

}  // namespace ops

Tensor argmax(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("argmax", x, ops::argmax_axes);
}

Tensor argmax(const TensorOperand& x, std::int64_t axis, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("argmax", x, {axis}, keepdim, ops::argmax_axes);
}

Tensor argmin(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("argmin", x, ops::argmin_axes);
}

Tensor argmin(const TensorOperand& x, std::int64_t axis, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("argmin", x, {axis}, keepdim, ops::argmin_axes);
}

}  // namespace neap
