// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/index_select.hpp"

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/indexing/indices.hpp"
#include "neap/ops/indexing/scatter_add.hpp"

namespace neap {
namespace ops {
namespace {

int check_line(const char* op, const Tensor& x, std::int64_t axis,
               const Tensor& index) {
  const int along = base::normalize_axis(op, axis, x.rank());
  if (index.rank() != 1) {
    raise<ShapeError>("{}: an index {}, expected one axis", op,
                      format_shape(index.shape()));
  }
  check_indices(op, index, along, x.shape()[along]);
  return along;
}

}  // namespace

Tensor select_checked(const Operand& x, int axis, const Tensor& index) {
  Shape shape = x.tensor().shape();
  shape[axis] = index.element_count();
  return gather_checked(x, axis, spread_index(index, shape, axis));
}

}  // namespace ops

Tensor index_select(const Operand& x, std::int64_t axis, const Operand& index) {
  const ops::AtSite here(x);
  const Tensor& at = ops::tensor_of("index_select", index);
  const int along = ops::check_line(
      "index_select", ops::tensor_of("index_select", x), axis, at);
  return ops::select_checked(x, along, at);
}

Tensor index_add(const Operand& x, std::int64_t axis, const Operand& index,
                 const Operand& src, double alpha) {
  const ops::AtSite here(x);
  const Tensor& onto = ops::tensor_of("index_add", x);
  const Tensor& at = ops::tensor_of("index_add", index);
  const Tensor& from = ops::tensor_of("index_add", src);
  const int along = ops::check_line("index_add", onto, axis, at);
  Shape shape = onto.shape();
  shape[along] = at.element_count();
  if (from.shape() != shape) {
    base::raise<ShapeError>("index_add: a source {}, expected {}",
                            format_shape(from.shape()), format_shape(shape));
  }
  return ops::scatter_add_checked(x, along, ops::spread_index(at, shape, along),
                                  alpha == 1.0 ? from : mul(from, alpha));
}

}  // namespace neap
