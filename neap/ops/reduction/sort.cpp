// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/sort.hpp"

#include <limits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/sort.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/indexing/scatter.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::SortAttrs;

void infer_sort(const OpArgs& args, std::span<Spec> out) {
  infer_signed(args, out);
  const auto& attrs = args.attrs.as<SortAttrs>();
  const auto axis = static_cast<int>(attrs.axis);
  const std::int64_t extent = out[0].shape[axis];
  if (attrs.count < 0 || attrs.count > extent) {
    raise<ValueError>("{}: k is {}, expected 0 to {}", args.name, attrs.count,
                      extent);
  }
  if (extent > std::numeric_limits<std::uint32_t>::max()) {
    raise<ValueError>("{}: {} elements along axis {}, expected less than 2^32",
                      args.name, extent, axis);
  }
  out[0].shape[axis] = attrs.count;
  out[1] = out[0];
  out[1].dtype = i64;
}

void sort_vjp(VjpContext& c) {
  const auto axis = static_cast<int>(c.attrs<SortAttrs>().axis);
  Tensor dy = c.take_cotangent();
  const Tensor zeros =
      filled({dy.dtype(), c.input_shape(0), dy.space()}, 0.0, CallSite::here());
  c.set(0, scatter_add_checked(zeros, axis, c.output(1), dy));
}

void sort_jvp(JvpContext& c) {
  const auto axis = static_cast<int>(c.attrs<SortAttrs>().axis);
  c.set(0, gather_checked(c.tangent(), axis, c.output(1)));
}

// n log n comparisons; of bytes, all operands once.
Cost cost_of_sort(const OpArgs& args, std::span<const Spec> outputs) {
  const Shape& shape = args.inputs[0].shape;
  const std::int64_t extent =
      shape[static_cast<int>(args.attrs.as<SortAttrs>().axis)];
  std::int64_t levels = 1;
  while (extent >> levels > 0) {
    ++levels;
  }
  return moving(args, outputs, shape.element_count() * levels);
}

constexpr graph::Facts kFacts = {
    .vjp_reads = {{{.outputs = 0b10, .shapes = 0b1}}},
    .rows = rows_beside_axis,
    .cost = cost_of_sort};

ValuesAndIndices sort_by(const Op& op, const Operand& x,
                         const SortAttrs& attrs) {
  std::array<Tensor, 2> out;
  graph::dispatch(op, {&x, 1}, attrs, x.site(), out);
  return {out[0], out[1]};
}

}  // namespace

const Op kSort{
    .name = "sort",
    .formula =
        "y = x in order along an axis, with the index of each; dx[index] = dy",
    .outputs = 2,
    .infer = infer_sort,
    .kernel = &kernels::sort_kernels,
    .vjp = sort_vjp,
    .jvp = sort_jvp,
    .facts = kFacts};

const Op kTopk{
    .name = "topk",
    .formula =
        "y = the k largest or smallest x along an axis, in order, with the "
        "index of each; dx[index] = dy",
    .outputs = 2,
    .infer = infer_sort,
    .kernel = &kernels::topk_kernels,
    .vjp = sort_vjp,
    .jvp = sort_jvp,
    .facts = kFacts};

}  // namespace ops

ValuesAndIndices sort(const TensorOperand& x, std::int64_t axis,
                      bool descending) {
  const Shape& shape = ops::tensor_of("sort", x).shape();
  const int along = base::normalize_axis("sort", axis, shape.rank());
  return ops::sort_by(
      ops::kSort, x,
      {.axis = along, .count = shape[along], .descending = descending});
}

Tensor argsort(const TensorOperand& x, std::int64_t axis, bool descending) {
  return sort(x, axis, descending).indices;
}

ValuesAndIndices topk(const TensorOperand& x, std::int64_t k, std::int64_t axis,
                      bool largest) {
  const int rank = ops::tensor_of("topk", x).rank();
  return ops::sort_by(ops::kTopk, x,
                      {.axis = base::normalize_axis("topk", axis, rank),
                       .count = k,
                       .descending = largest});
}

}  // namespace neap
