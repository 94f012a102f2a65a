// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/pad.hpp"

#include "neap/kernels/shape/pad.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/flip.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"
#include "neap/tensor/number_check.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::PadAttrs;

void infer_pad(const OpArgs& args, std::span<Spec> out) {
  const auto& attrs = args.attrs.as<PadAttrs>();
  infer_same(args, out);
  for (int axis = 0; axis < out[0].shape.rank(); ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    out[0].shape[axis] = base::checked_add(
        base::checked_add(out[0].shape[axis], attrs.before[a]), attrs.after[a]);
  }
}

// `count` positions of an axis from `start`, a view.
Tensor part_of(const Tensor& x, int axis, std::int64_t start,
               std::int64_t count) {
  const std::int64_t extent = x.shape()[axis];
  return count == extent ? x : slice_of(x, {axis, start, 1, count, extent});
}

// A view of the cotangent without the pads.
void vjp_pad(VjpContext& c) {
  const auto attrs = c.attrs<PadAttrs>();
  Tensor g = c.take_cotangent();
  for (int axis = 0; axis < g.rank(); ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    g = part_of(g, axis, attrs.before[a],
                g.shape()[axis] - attrs.before[a] - attrs.after[a]);
  }
  c.set(0, std::move(g));
}

void jvp_pad(JvpContext& c) {
  PadAttrs attrs = c.attrs<PadAttrs>();
  attrs.value = 0.0;
  c.set(0, graph::apply(kPad, {c.tangent()}, attrs));
}

// The new elements on one side of an axis.
Tensor border(const Tensor& x, int axis, std::int64_t count, PadMode mode,
              bool is_before) {
  const std::int64_t extent = x.shape()[axis];
  if (mode == PadMode::kReplicate) {
    Shape shape = x.shape();
    shape[axis] = count;
    return expand(part_of(x, axis, is_before ? 0 : extent - 1, 1), shape);
  }
  if (mode == PadMode::kCircular) {
    return part_of(x, axis, is_before ? extent - count : 0, count);
  }
  return flip(part_of(x, axis, is_before ? 1 : extent - 1 - count, count),
              {axis});
}

// Along one axis, in any mode but kConstant.
Tensor bordered(const Tensor& x, int axis, std::int64_t before,
                std::int64_t after, PadMode mode) {
  const std::int64_t extent = x.shape()[axis];
  const std::int64_t most = mode == PadMode::kReflect    ? extent - 1
                            : mode == PadMode::kCircular ? extent
                            : extent > 0                 ? kEnd
                                                         : 0;
  if (std::max(before, after) > most) {
    raise<ShapeError>(
        "pad: {} and {} for axis {} of {}, in this mode at most "
        "{}",
        before, after, axis, format_shape(x.shape()), most);
  }
  std::array<Tensor, 3> parts;
  std::size_t count = 0;
  if (before > 0) {
    parts[count++] = border(x, axis, before, mode, true);
  }
  parts[count++] = x;
  if (after > 0) {
    parts[count++] = border(x, axis, after, mode, false);
  }
  return concat(std::span<const Tensor>(parts).first(count), axis);
}

RowUse rows_of_pad(const OpArgs& args, Specs /*outputs*/, const RowAxes& axes) {
  const int axis = axes.inputs[0];
  const auto& attrs = args.attrs.as<PadAttrs>();
  const auto a = static_cast<std::size_t>(std::max(axis, 0));
  if (axis < 0 || attrs.before[a] != 0 || attrs.after[a] != 0) {
    return RowUse::kUnknown;
  }
  axes.outputs[0] = axis;
  return RowUse::kEach;
}

}  // namespace

const Op kPad{
    .name = "pad",
    .formula = "y = x within a border of one value",
    .infer = infer_pad,
    .kernel = &kernels::pad_kernels,
    .vjp = vjp_pad,
    .jvp = jvp_pad,
    .facts = {.rows = rows_of_pad,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

namespace {

// The axes of `pads` are counted from the start now.
Tensor pad_by(const Tensor& x, const PadAttrs& pads, PadMode mode) {
  // Negative padding goes first.
  Tensor y = x;
  PadAttrs attrs = pads;
  bool grows = false;
  for (int axis = 0; axis < x.rank(); ++axis) {
    std::int64_t& before = attrs.before[static_cast<std::size_t>(axis)];
    std::int64_t& after = attrs.after[static_cast<std::size_t>(axis)];
    const std::int64_t extent = y.shape()[axis];
    const auto check = [&](bool is_good) {
      if (!is_good) {
        raise<ShapeError>("pad: {} and {} take more than axis {} of {} has",
                          before, after, axis, format_shape(x.shape()));
      }
    };
    check(before >= -extent && after >= -extent);
    const std::int64_t first = std::max<std::int64_t>(-before, 0);
    const std::int64_t last = std::max<std::int64_t>(-after, 0);
    check(last <= extent - first);
    y = part_of(y, axis, first, extent - first - last);
    before = std::max<std::int64_t>(before, 0);
    after = std::max<std::int64_t>(after, 0);
    grows = grows || before > 0 || after > 0;
    if (mode != PadMode::kConstant && (before > 0 || after > 0)) {
      y = bordered(y, axis, before, after, mode);
    }
  }
  return grows && mode == PadMode::kConstant ? graph::apply(kPad, {y}, attrs)
                                             : y;
}

}  // namespace
}  // namespace ops

Tensor pad(const TensorOperand& x, std::span<const std::int64_t> pads,
           PadMode mode, Number value) {
  const ops::AtSite here(x);
  const Tensor& from = ops::tensor_of("pad", x);
  const auto pairs = static_cast<int>(pads.size() / 2);
  if (pads.size() % 2 != 0 || pairs > from.rank()) {
    base::raise<ShapeError>(
        "pad: {} numbers, expected a pair for each of the last axes of {}",
        pads.size(), format_shape(from.shape()));
  }
  tensor::check_number("pad", value.value(), from.dtype());
  kernels::PadAttrs attrs{.value = value.value()};
  auto axis = static_cast<std::size_t>(from.rank());
  for (std::size_t k = 0; k < pads.size(); k += 2) {
    --axis;
    attrs.before[axis] = pads[k];
    attrs.after[axis] = pads[k + 1];
  }
  return ops::pad_by(from, attrs, mode);
}

Tensor pad(const TensorOperand& x, std::initializer_list<std::int64_t> pads,
           PadMode mode, Number value) {
  return pad(x, std::span(pads.begin(), pads.size()), mode, value);
}

}  // namespace neap
