// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/embedding.hpp"

#include "neap/kernels/indexing/one_hot.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/indexing/index.hpp"
#include "neap/ops/indexing/indices.hpp"
#include "neap/ops/indexing/labels.hpp"
#include "neap/ops/indexing/scatter.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace {

std::int64_t row_of(std::int64_t padding, std::int64_t rows) {
  const std::int64_t row = padding < 0 ? padding + rows : padding;
  if (row < 0 || row >= rows) {
    base::raise<ValueError>("embedding: padding {} is none of {} rows", padding,
                            rows);
  }
  return row;
}

// The rows alone are widened, which is exact. Nothing has a gradient, so that
// `padding` is but checked.
Tensor rows_of_half(const Tensor& weight, const Tensor& line, const Shape& to,
                    const std::optional<std::int64_t>& padding) {
  if (is_grad_enabled() && weight.requires_grad()) {
    base::raise<DTypeError>(
        "embedding: weight is bf16 and requires a gradient; what is trained is "
        "f32 or f64, what is bf16 must be frozen");
  }
  if (padding) {
    row_of(*padding, weight.shape()[0]);
  }
  return reshape(cast(ops::select_checked(weight, 0, line), f32), to);
}

}  // namespace

Tensor embedding(const Operand& weight, const Operand& ids,
                 std::optional<std::int64_t> padding) {
  const ops::AtSite here(weight);
  const Tensor& rows = ops::tensor_of("embedding", weight);
  const Tensor& at = ops::tensor_of("embedding", ids);
  if (rows.rank() != 2) {
    base::raise<ShapeError>("embedding: a weight {}, expected (rows, width)",
                            format_shape(rows.shape()));
  }
  ops::check_indices("embedding", at, 0, rows.shape()[0]);
  Shape to = at.shape();
  to.push_back(rows.shape()[1]);
  const Tensor line = reshape(at, {at.element_count()});
  if (rows.dtype() == bf16) {
    return rows_of_half(rows, line, to, padding);
  }
  const Tensor from =
      padding ? ops::frozen_row(rows, row_of(*padding, rows.shape()[0])) : rows;
  return reshape(ops::select_checked(from, 0, line), to);
}

namespace ops {
namespace {

// `d` with zeros in that row, in its own memory where it is nobody else's.
Tensor without_row(Tensor d, std::int64_t row) {
  Shape one = d.shape();
  one[0] = 1;
  const CallSite site = CallSite::here();
  const Tensor index =
      expand(constant(static_cast<double>(row), i64, d.space(), site), one);
  const Tensor zero = expand(constant(0.0, d.dtype(), d.space(), site), one);
  return scatter_checked(std::move(d), 0, index, zero);
}

}  // namespace

const Op kFrozenRow{
    .name = "frozen_row",
    .formula = "y = x; dx = dy, but 0 in one row",
    .infer = infer_same,
    .view = [](const Layout& x, const Attrs&) { return x; },
    .vjp =
        [](VjpContext& c) {
          c.set(0, without_row(c.take_cotangent(), c.attrs<RowAttrs>().row));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, without_row(c.tangent(), c.attrs<RowAttrs>().row));
        },
    .facts = {}};

Tensor frozen_row(const TensorOperand& x, std::int64_t row) {
  return graph::apply(kFrozenRow, {x}, RowAttrs{row});
}

const Op kOneHot{.name = "one_hot",
                 .formula = "y[c] = label == c",
                 .infer =
                     [](const OpArgs& args, std::span<Spec> out) {
                       const auto& attrs = args.attrs.as<OneHotAttrs>();
                       check_dtype("one_hot", args.inputs[0].dtype, i64);
                       out[0].dtype = attrs.dtype;
                       out[0].shape = args.inputs[0].shape;
                       out[0].shape.push_back(attrs.classes);
                     },
                 .kernel = &kernels::one_hot_kernels,
                 .facts = {.rows = rows_before<0>}};

}  // namespace ops

Tensor one_hot(const TensorOperand& labels, std::int64_t classes, DType dtype) {
  if (classes < 0) {
    base::raise<ValueError>("one_hot: {} classes, expected 0 or more", classes);
  }
  ops::check_labels("one_hot", ops::tensor_of("one_hot", labels), classes);
  return graph::apply(ops::kOneHot, {labels}, ops::OneHotAttrs{classes, dtype});
}

}  // namespace neap
