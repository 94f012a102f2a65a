// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/prod.hpp"

#include <bit>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/prod.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::ReduceAttrs;
using kernels::SliceAttrs;

// x at [start, ...) of a last axis of `extent` zeros.
Tensor put(const Operand& x, std::int64_t start, std::int64_t extent) {
  const Shape& shape = x.tensor().shape();
  const int axis = shape.rank() - 1;
  return slice_put(x, SliceAttrs{axis, start, 1, shape[axis], extent});
}

// The last axis with ones after it.
Tensor padded(const Tensor& x, std::int64_t extent) {
  const std::int64_t count = x.shape().back();
  if (count == extent) {
    return x;
  }
  const Tensor ones = filled({x.dtype(), Shape{extent - count}, x.space()}, 1.0,
                             CallSite::here());
  return add(put(x, 0, extent), put(ones, count, extent));
}

// y_i = product of all x_j along the last axis but x_i, by multiplications
// alone: a division by x_i would fail at zero. Up a tree of products of halves,
//
//   x0 x1 x2 x3  ->  x0x2 x1x3  ->  (the whole)
//
// and down again: a half's product of others is its parent's by the other half.
Tensor products_of_others(const Tensor& x) {
  const std::int64_t count = x.shape().back();
  std::array<Tensor, 64> levels;
  int level = 0;
  levels[0] = padded(x, static_cast<std::int64_t>(
                            std::bit_ceil(static_cast<std::uint64_t>(count))));
  const auto half = [&](int i, bool second) {
    const Tensor& whole = levels[static_cast<std::size_t>(i)];
    const std::int64_t extent = whole.shape().back() / 2;
    return narrow(whole, -1, second ? extent : 0, extent);
  };
  for (; levels[static_cast<std::size_t>(level)].shape().back() > 2; ++level) {
    levels[static_cast<std::size_t>(level) + 1] =
        mul(half(level, false), half(level, true));
  }
  Tensor others;
  for (; level >= 0; --level) {
    Tensor first = half(level, true);
    Tensor second = half(level, false);
    if (others.defined()) {
      first = mul(others, first);
      second = mul(others, second);
    }
    const std::int64_t extent = first.shape().back();
    others = add(put(first, 0, 2 * extent), put(second, extent, 2 * extent));
    levels[static_cast<std::size_t>(level)] = Tensor();
  }
  return narrow(others, -1, 0, count);
}

// The same over the axes of a mask. REQUIRES: they have two elements or more.
Tensor products_of_others(const Tensor& x, std::uint64_t axes) {
  Shape order;
  for (const bool last : {false, true}) {
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (has_axis(axes, axis) == last) {
        order.push_back(axis);
      }
    }
  }
  Shape inverse = order;
  for (int i = 0; i < order.rank(); ++i) {
    inverse[static_cast<int>(order[i])] = i;
  }
  const Tensor moved = permute(x, order);
  const std::int64_t count = reduced_count(x.shape(), axes);
  const Tensor flat = reshape(moved, {x.element_count() / count, count});
  return permute(reshape(products_of_others(flat), moved.shape()), inverse);
}

// dy/dx_i, of the shape of x or to be broadcast to it.
Tensor slopes(const Tensor& x, std::uint64_t axes) {
  if (x.element_count() == 0 || reduced_count(x.shape(), axes) == 1) {
    return filled(
        {x.dtype(), reduced(x.shape(), all_axes(x.rank())), x.space()}, 1.0,
        CallSite::here());
  }
  return products_of_others(x, axes);
}

Tensor prod_axes(const Operand& x, std::uint64_t axes) {
  return graph::apply(kProd, {x}, ReduceAttrs{axes});
}

}  // namespace

const Op kProd{
    .name = "prod",
    .formula =
        "y = product of x over some axes, which stay with extent 1; dx_i = dy "
        "(product of the others), by multiplications alone",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const DType dtype = args.inputs[0].dtype;
          if (dtype == bf16) {
            check_computes("prod", dtype);
          }
          out[0].dtype = is_floating(dtype) ? dtype : i64;
          out[0].shape =
              reduced(args.inputs[0].shape, args.attrs.as<ReduceAttrs>().axes);
        },
    .kernel = &kernels::prod_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor x = c.input(0);
          const Tensor slope = slopes(x, c.attrs<ReduceAttrs>().axes);
          c.set(0, mul(slope, expand(c.take_cotangent(), x.shape())));
        },
    .jvp =
        [](JvpContext& c) {
          const std::uint64_t axes = c.attrs<ReduceAttrs>().axes;
          c.set(0, sum_axes(mul(slopes(c.input(), axes), c.tangent()), axes));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}},
              .rows = rows_of_reduction,
              .cost = cost_of_reduction}};

}  // namespace ops

Tensor prod(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("prod", x, ops::prod_axes);
}

Tensor prod(const TensorOperand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("prod", x, axes, keepdim, ops::prod_axes);
}

}  // namespace neap
