// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/embedding.hpp"

#include "neap/ops/indexing/frozen_row.hpp"
#include "neap/ops/indexing/index_select.hpp"
#include "neap/ops/indexing/indices.hpp"
#include "neap/ops/shape/reshape.hpp"

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
  const Tensor from =
      padding ? ops::frozen_row(rows, row_of(*padding, rows.shape()[0])) : rows;
  const Tensor line = reshape(at, {at.element_count()});
  return reshape(ops::select_checked(from, 0, line), to);
}

}  // namespace neap
