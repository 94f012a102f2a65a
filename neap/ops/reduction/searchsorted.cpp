// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/searchsorted.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/searchsorted.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

void infer_searchsorted(const OpArgs& args, std::span<Spec> out) {
  const Shape& sorted = args.inputs[0].shape;
  const Shape& values = args.inputs[1].shape;
  check_signed(args.name, args.inputs[0].dtype);
  check_same_dtype(args);
  bool fits = sorted.rank() > 0 && values.rank() > 0 &&
              (sorted.rank() == 1 || sorted.rank() == values.rank());
  for (int axis = 0; fits && axis + 1 < sorted.rank(); ++axis) {
    fits = sorted[axis] == values[axis];
  }
  if (!fits) {
    raise<ShapeError>(
        "{}: values {} in sorted rows {}, expected rows (n), or the same axes "
        "but for the last",
        args.name, format_shape(values), format_shape(sorted));
  }
  out[0].dtype = i64;
  out[0].shape = values;
}

}  // namespace

const Op kSearchsorted{
    .name = "searchsorted",
    .formula = "y = how many elements of a sorted row are less than the value",
    .infer = infer_searchsorted,
    .kernel = &kernels::searchsorted_kernels,
    .facts = {}};

}  // namespace ops

Tensor searchsorted(const Operand& sorted, const Operand& values, bool right) {
  ops::tensor_of("searchsorted", sorted);
  ops::tensor_of("searchsorted", values);
  return graph::apply(ops::kSearchsorted, {sorted, values},
                      kernels::SearchAttrs{.right = right});
}

}  // namespace neap
