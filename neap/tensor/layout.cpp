// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/layout.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"

namespace neap::tensor {

using base::raise;

namespace {

bool is_empty(const Shape& shape) noexcept {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

}  // namespace

Layout dense_layout(DType dtype, const Shape& shape) {
  Layout layout;
  layout.dtype = dtype;
  layout.shape = shape;
  layout.strides = shape;
  std::int64_t step = 1;
  bool is_plain = true;  // no extent of 0, nothing overflows
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    layout.strides[axis] = step;
    is_plain = is_plain && shape[axis] > 0 &&
               !__builtin_mul_overflow(step, shape[axis], &step);
  }
  if (!is_plain) {
    layout.strides = base::row_major_strides(shape);
  }
  return layout;
}

bool is_contiguous(const Layout& layout) noexcept {
  if (is_empty(layout.shape)) {
    return true;
  }
  std::int64_t step = 1;
  for (int axis = layout.shape.rank() - 1; axis >= 0; --axis) {
    const std::int64_t extent = layout.shape[axis];
    if (extent != 1 && layout.strides[axis] != step) {
      return false;
    }
    step *= extent;
  }
  return true;
}

Layout permuted(const Layout& layout, const Shape& order) {
  const int rank = layout.shape.rank();
  Layout out = layout;
  unsigned seen = 0;
  for (int axis = 0; axis < order.rank() && axis < rank; ++axis) {
    const std::int64_t from = order[axis];
    if (from >= 0 && from < rank) {
      seen |= 1U << static_cast<unsigned>(from);
      out.shape[axis] = layout.shape[static_cast<int>(from)];
      out.strides[axis] = layout.strides[static_cast<int>(from)];
    }
  }
  if (order.rank() != rank || seen != (1U << static_cast<unsigned>(rank)) - 1) {
    raise<ShapeError>("permute: {} is not an order of the {} axes of {}",
                      format_shape(order), rank, format_shape(layout.shape));
  }
  return out;
}

Range cut_range(std::int64_t extent, std::int64_t start, std::int64_t stop,
                std::int64_t step) {
  if (step <= 0) {
    raise<ValueError>("slice: step {} is not positive", step);
  }
  const auto cut = [extent](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  start = cut(start);
  stop = std::max(cut(stop), start);
  // Without overflow for any step: ceil((stop - start) / step).
  return {start, step, stop == start ? 0 : (stop - start - 1) / step + 1};
}

Layout sliced(const Layout& layout, int axis, const Range& range) {
  Layout out = layout;
  out.shape[axis] = range.count;
  out.strides[axis] = range.count <= 1
                          ? layout.strides[axis]
                          : base::checked_mul(layout.strides[axis], range.step);
  out.offset = range.count == 0
                   ? layout.offset
                   : layout.offset + range.start * layout.strides[axis];
  return out;
}

Layout sliced(const Layout& layout, int axis, std::int64_t start,
              std::int64_t stop, std::int64_t step) {
  axis = base::normalize_axis("slice", axis, layout.shape.rank());
  return sliced(layout, axis, cut_range(layout.shape[axis], start, stop, step));
}

Layout expanded(const Layout& layout, const Shape& shape) {
  if (!base::broadcasts_to(layout.shape, shape)) {
    raise<ShapeError>("expand: shape {} does not broadcast to {}",
                      format_shape(layout.shape), format_shape(shape));
  }
  Layout out = layout;
  out.shape = shape;
  out.strides = Shape::filled(shape.rank(), 0);
  for (int from_end = 1; from_end <= layout.shape.rank(); ++from_end) {
    if (layout.shape.back(from_end) == shape.back(from_end)) {
      out.strides[shape.rank() - from_end] = layout.strides.back(from_end);
    }
  }
  shape.element_count();  // checks overflow
  return out;
}

namespace {

// Joins neighbouring axes that one stride can walk, extents of 1 left out.
void merge_axes(const Layout& layout, Shape& extents, Shape& strides) {
  for (int axis = 0; axis < layout.shape.rank(); ++axis) {
    const std::int64_t extent = layout.shape[axis];
    const std::int64_t stride = layout.strides[axis];
    if (extent == 1) {
      continue;
    }
    const int last = extents.rank() - 1;
    if (last >= 0 && strides[last] == extent * stride) {
      extents[last] *= extent;
      strides[last] = stride;
    } else {
      extents.push_back(extent);
      strides.push_back(stride);
    }
  }
}

}  // namespace

std::optional<Layout> reshaped(const Layout& layout, const Shape& shape) {
  const std::int64_t count = layout.shape.element_count();
  if (count != shape.element_count()) {
    raise<ShapeError>("reshape: {} has {} elements, {} has {}",
                      format_shape(layout.shape), count, format_shape(shape),
                      shape.element_count());
  }
  Layout out{layout.dtype, shape, base::row_major_strides(shape),
             layout.offset};
  if (count == 0 || is_contiguous(layout)) {
    return out;
  }
  Shape extents;
  Shape strides;
  merge_axes(layout, extents, strides);
  // Fill each merged axis, from the last, with as many new axes as it holds.
  int merged = extents.rank() - 1;
  std::int64_t room = merged >= 0 ? extents[merged] : 1;
  std::int64_t stride = merged >= 0 ? strides[merged] : 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) {
      continue;
    }
    if (room == 1 && merged > 0) {
      --merged;
      room = extents[merged];
      stride = strides[merged];
    }
    if (room % shape[axis] != 0) {
      return std::nullopt;
    }
    out.strides[axis] = stride;
    stride *= shape[axis];
    room /= shape[axis];
  }
  return out;
}

Bytes extent_bytes(const Layout& layout) {
  if (is_empty(layout.shape)) {
    return 0;
  }
  std::int64_t last = layout.offset;
  for (int axis = 0; axis < layout.shape.rank(); ++axis) {
    last = base::checked_add(
        last, base::checked_mul(layout.shape[axis] - 1, layout.strides[axis]));
  }
  return base::checked_mul(base::checked_add(last, 1), size_of(layout.dtype));
}

}  // namespace neap::tensor
