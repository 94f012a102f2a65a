// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/triangle.hpp"

#include "neap/kernels/linalg/triangle.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::TrilAttrs;

Tensor side_of(const Operand& x, std::int64_t diagonal, bool upper) {
  const Shape& shape = tensor_of("triangle", x).shape();
  if (shape.rank() < 2) {
    raise<ShapeError>("triangle: {}, expected matrices (..., m, n)",
                      format_shape(shape));
  }
  // Further away than the corners is as good as at them.
  const std::int64_t at =
      std::clamp(diagonal, -shape.back(2) - 1, shape.back(1) + 1);
  return graph::apply(kTriangle, {x}, TrilAttrs{at, upper ? 1 : 0});
}

Tensor like(const Operand& x, const TrilAttrs& attrs) {
  return graph::apply(kTriangle, {x}, attrs);
}

}  // namespace

const Op kTriangle{
    .name = "triangle",
    .formula = "y = x on one side of a diagonal of the last two axes, else 0",
    .infer = infer_same,
    .kernel = &kernels::triangle_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, like(c.take_cotangent(), c.attrs<TrilAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, like(c.tangent(), c.attrs<TrilAttrs>()));
        },
    .facts = {.donates = 0b1, .rows = rows_before<2>}};

}  // namespace ops

Tensor tril(const TensorOperand& x, std::int64_t diagonal) {
  return ops::side_of(x, diagonal, false);
}

Tensor triu(const TensorOperand& x, std::int64_t diagonal) {
  return ops::side_of(x, diagonal, true);
}

}  // namespace neap
