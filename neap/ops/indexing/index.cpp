// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/index.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/indexing/indices.hpp"
#include "neap/ops/indexing/scatter.hpp"
#include "neap/ops/shape/views.hpp"

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

// The operands of scatter_add that index_add's are.
struct Additions {
  int axis = 0;
  Tensor index;
  Tensor src;
};

Additions additions(const char* op, const Tensor& x, std::int64_t axis,
                    const Tensor& index, const Tensor& src, Number alpha) {
  const int along = check_line(op, x, axis, index);
  Shape shape = x.shape();
  shape[along] = index.element_count();
  if (src.shape() != shape) {
    raise<ShapeError>("{}: a source {}, expected {}", op,
                      format_shape(src.shape()), format_shape(shape));
  }
  return {along, spread_index(index, shape, along),
          alpha.value() == 1.0 ? src : mul(src, alpha.value())};
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
                 const Operand& src, Number alpha) {
  const ops::AtSite here(x);
  const ops::Additions added =
      ops::additions("index_add", ops::tensor_of("index_add", x), axis,
                     ops::tensor_of("index_add", index),
                     ops::tensor_of("index_add", src), alpha);
  return ops::scatter_add_checked(x, added.axis, added.index, added.src);
}

void index_add_(const Tensor& x, std::int64_t axis, const Tensor& index,
                const Tensor& src, Number alpha, CallSite site) {
  const ops::AtSite here(Operand(x, site));
  const ops::Additions added =
      ops::additions("index_add_", x, axis, index, src, alpha);
  compute_into(x, ops::kScatterAdd, {x, added.index, added.src},
               kernels::AxisAttrs{added.axis});
}

namespace {

// Checked, as i64, and counted from the start.
Tensor positions(const char* op, const Tensor& index, int axis,
                 std::int64_t extent) {
  const bool may_wrap =
      ops::check_indices(op, index, axis, extent, ops::Negative::kFromEnd);
  const Tensor at = index.dtype() == i64 ? index : cast(index, i64);
  return may_wrap ? where(lt(at, 0), add(at, extent), at) : at;
}

}  // namespace

Tensor index(const TensorOperand& x, std::span<const Tensor> indices) {
  const ops::AtSite here(x);
  const Tensor& from = ops::tensor_of("index", x);
  const Shape& shape = from.shape();
  if (indices.size() > static_cast<std::size_t>(shape.rank())) {
    base::raise<ShapeError>("index: {} indices of {}", indices.size(),
                            format_shape(shape));
  }
  if (indices.empty()) {
    return from;
  }
  // All indexed axes as one line, and where each index falls in it.
  Shape to;
  Tensor at;
  std::int64_t rows = 1;
  for (int axis = 0; axis < static_cast<int>(indices.size()); ++axis) {
    const Tensor& index = indices[static_cast<std::size_t>(axis)];
    to = base::broadcast("index", to, index.shape());
    const Tensor here_at = positions("index", index, axis, shape[axis]);
    at = at.defined() ? add(mul(std::move(at), shape[axis]), here_at) : here_at;
    rows = base::checked_mul(rows, shape[axis]);
  }
  Shape lined{rows};
  for (int axis = static_cast<int>(indices.size()); axis < shape.rank();
       ++axis) {
    lined.push_back(shape[axis]);
    to.push_back(shape[axis]);
  }
  const Tensor y = ops::select_checked(reshape(x, lined), 0,
                                       reshape(at, {at.element_count()}));
  return reshape(y, to);
}

Tensor index(const TensorOperand& x, std::initializer_list<Tensor> indices) {
  return index(x, std::span(indices.begin(), indices.size()));
}

Tensor take(const Operand& x, const Operand& index) {
  const ops::AtSite here(x);
  const Tensor& from = ops::tensor_of("take", x);
  const Tensor& at = ops::tensor_of("take", index);
  const std::int64_t count = from.element_count();
  const Tensor line =
      reshape(positions("take", at, 0, count), {at.element_count()});
  return reshape(ops::gather_checked(reshape(x, {count}), 0, line), at.shape());
}

}  // namespace neap
