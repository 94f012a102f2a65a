// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/diagonal.hpp"

#include "neap/kernels/shape/diagonal_put.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::DiagonalAttrs;

std::int64_t length_of(const DiagonalAttrs& a) noexcept {
  const std::int64_t down = std::max<std::int64_t>(-a.offset, 0);
  const std::int64_t right = std::max<std::int64_t>(a.offset, 0);
  return std::max<std::int64_t>(
      std::min(a.first_extent - down, a.second_extent - right), 0);
}

Layout diagonal_of(const Layout& x, const Attrs& attrs) {
  const auto& a = attrs.as<DiagonalAttrs>();
  const int first = static_cast<int>(a.first);
  const int second = static_cast<int>(a.second);
  Layout y = x;
  const std::int64_t down = x.strides[first];
  const std::int64_t right = x.strides[second];
  const std::int64_t length = length_of(a);
  for (const int axis : {std::max(first, second), std::min(first, second)}) {
    y.shape.erase(axis);
    y.strides.erase(axis);
  }
  y.shape.push_back(length);
  y.strides.push_back(base::checked_add(down, right));
  if (length != 0) {
    y.offset += std::max<std::int64_t>(-a.offset, 0) * down +
                std::max<std::int64_t>(a.offset, 0) * right;
  }
  return y;
}

void infer_diagonal(const OpArgs& args, std::span<Spec> out) {
  const Spec& x = args.inputs[0];
  out[0].dtype = x.dtype;
  out[0].shape = diagonal_of({x.dtype, x.shape, x.shape, 0}, args.attrs).shape;
}

}  // namespace

const Op kDiagonal{
    .name = "diagonal",
    .formula = "y[.., i] = x[.., i, .., i + offset, ..]",
    .infer = infer_diagonal,
    .view = diagonal_of,
    .vjp =
        [](VjpContext& c) {
          c.set(0, diagonal_put(c.take_cotangent(), c.attrs<DiagonalAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, graph::apply(kDiagonal, {c.tangent()},
                                c.attrs<DiagonalAttrs>()));
        },
    .facts = {}};

}  // namespace ops

Tensor diagonal(const TensorOperand& x, std::int64_t offset, std::int64_t axis1,
                std::int64_t axis2) {
  const Shape& shape = ops::tensor_of("diagonal", x).shape();
  const int first = base::normalize_axis("diagonal", axis1, shape.rank());
  const int second = base::normalize_axis("diagonal", axis2, shape.rank());
  if (first == second) {
    base::raise<ShapeError>("diagonal: axis {} twice", first);
  }
  // Beyond the matrix is as far as just beyond it.
  const std::int64_t at = std::clamp(offset, -shape[first], shape[second]);
  return graph::apply(
      ops::kDiagonal, {x},
      kernels::DiagonalAttrs{at, first, second, shape[first], shape[second]});
}

Tensor diag(const TensorOperand& x, std::int64_t offset) {
  const Shape& shape = ops::tensor_of("diag", x).shape();
  if (shape.rank() == 2) {
    return diagonal(x, offset);
  }
  if (shape.rank() != 1) {
    base::raise<ShapeError>("diag: {}, expected a vector or a matrix",
                            format_shape(shape));
  }
  constexpr std::int64_t kFar = std::int64_t{1} << 40;  // no matrix is so wide
  if (offset < -kFar || offset > kFar) {
    base::raise<ShapeError>("diag: an offset of {}", offset);
  }
  const std::int64_t extent =
      base::checked_add(shape[0], std::max(offset, -offset));
  return ops::diagonal_put(x, {offset, 0, 1, extent, extent});
}

namespace ops {
namespace {

void infer_put(const OpArgs& args, std::span<Spec> out) {
  const auto& attrs = args.attrs.as<DiagonalAttrs>();
  const int first = static_cast<int>(attrs.first);
  const int second = static_cast<int>(attrs.second);
  Shape shape = args.inputs[0].shape;
  shape.erase(shape.rank() - 1);
  shape.insert(std::min(first, second),
               first < second ? attrs.first_extent : attrs.second_extent);
  shape.insert(std::max(first, second),
               first < second ? attrs.second_extent : attrs.first_extent);
  out[0].dtype = args.inputs[0].dtype;
  out[0].shape = shape;
}

}  // namespace

const Op kDiagonalPut{
    .name = "diagonal_put",
    .formula = "y = 0, but x on a diagonal",
    .infer = infer_put,
    .kernel = &kernels::diagonal_put_kernels,
    .vjp =
        [](VjpContext& c) {
          const auto a = c.attrs<DiagonalAttrs>();
          c.set(0, diagonal(c.take_cotangent(), a.offset, a.first, a.second));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, diagonal_put(c.tangent(), c.attrs<DiagonalAttrs>()));
        },
    .facts = {.cost = [](const OpArgs& args, std::span<const Spec> outputs) {
      return moving(args, outputs, 0);
    }}};

Tensor diagonal_put(const Operand& g, const DiagonalAttrs& attrs) {
  return graph::apply(kDiagonalPut, {g}, attrs);
}

}  // namespace ops

}  // namespace neap
