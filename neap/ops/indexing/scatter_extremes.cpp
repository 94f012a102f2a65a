// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter_extremes.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/indexing/scatter.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/extremes.hpp"
#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/indexing/indices.hpp"
#include "neap/ops/indexing/scatter.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AxisAttrs;

void infer_extreme(const OpArgs& args, std::span<Spec> out) {
  check_signed(args.name, args.inputs[0].dtype);
  infer_scatter(args, out);
}

// The elements of x and of src that are the result, as ones and zeros.
struct Winners {
  Tensor of_x;
  Tensor of_src;
  Tensor shares;  // for each element of the result, 1 over how many there are
};

Winners winners_of(const Tensor& x, const Tensor& index, const Tensor& src,
                   const Tensor& y, int axis) {
  const DType dtype = x.dtype();
  Winners out;
  out.of_x = cast(eq(x, y), dtype);
  out.of_src = cast(eq(src, gather_checked(y, axis, index)), dtype);
  const Tensor count = scatter_add_checked(out.of_x, axis, index, out.of_src);
  out.shares = reciprocal(maximum(count, 1));  // NaN is equal to nothing
  return out;
}

void vjp_extreme(VjpContext& c) {
  const auto axis = static_cast<int>(c.attrs<AxisAttrs>().axis);
  const Tensor index = c.input(1);
  const Winners won =
      winners_of(c.input(0), index, c.input(2), c.output(0), axis);
  const Tensor each = mul(c.take_cotangent(), won.shares);
  if (c.needs(2)) {
    c.set(2, mul(gather_checked(each, axis, index), won.of_src));
  }
  if (c.needs(0)) {
    c.set(0, mul(each, won.of_x));
  }
}

void jvp_extreme(JvpContext& c) {
  const auto axis = static_cast<int>(c.attrs<AxisAttrs>().axis);
  const Tensor index = c.input(1);
  const Winners won =
      winners_of(c.input(0), index, c.input(2), c.output(), axis);
  Tensor sums =
      c.tangent(0).defined() ? mul(c.tangent(0), won.of_x) : mul(won.of_x, 0.0);
  if (c.tangent(2).defined()) {
    sums =
        scatter_add_checked(sums, axis, index, mul(c.tangent(2), won.of_src));
  }
  c.set(0, mul(sums, won.shares));
}

constexpr graph::Facts kFacts{
    .vjp_reads = {{{.inputs = 0b111, .outputs = 0b1},
                   {},
                   {.inputs = 0b111, .outputs = 0b1}}},
    .donates = 0b001,
    .rows = rows_of_scatter,
    .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
      return moving(args, outputs, args.inputs[2].shape.element_count());
    }};

}  // namespace

const Op kScatterAmax{
    .name = "scatter_amax",
    .formula = "y = x; y[.., index[.., i, ..], ..] = max(that, src[.., i, ..])",
    .infer = infer_extreme,
    .kernel = &kernels::scatter_amax_kernels,
    .vjp = vjp_extreme,
    .jvp = jvp_extreme,
    .facts = kFacts};

const Op kScatterAmin{
    .name = "scatter_amin",
    .formula = "y = x; y[.., index[.., i, ..], ..] = min(that, src[.., i, ..])",
    .infer = infer_extreme,
    .kernel = &kernels::scatter_amin_kernels,
    .vjp = vjp_extreme,
    .jvp = jvp_extreme,
    .facts = kFacts};

namespace {

Tensor scatter_extreme(const Op& op, const Operand& x, std::int64_t axis,
                       const Operand& index, const Operand& src) {
  const AtSite here(x);
  const Tensor& at = tensor_of(op.name, index);
  const int along = check_scatter(op.kernel->name, tensor_of(op.name, x), axis,
                                  at, tensor_of(op.name, src));
  return graph::apply(op, {x, index, cut_to(src, at.shape())},
                      AxisAttrs{along});
}

}  // namespace
}  // namespace ops

Tensor scatter_amax(const Operand& x, std::int64_t axis, const Operand& index,
                    const Operand& src) {
  return ops::scatter_extreme(ops::kScatterAmax, x, axis, index, src);
}

Tensor scatter_amin(const Operand& x, std::int64_t axis, const Operand& index,
                    const Operand& src) {
  return ops::scatter_extreme(ops::kScatterAmin, x, axis, index, src);
}

}  // namespace neap
