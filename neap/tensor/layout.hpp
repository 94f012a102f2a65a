// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Layout: how a window of elements lies on a storage, and the layouts of views
// of it. Pure arithmetic: no data is touched.
#pragma once

#include <optional>

#include "neap/base/dtype.hpp"
#include "neap/base/shape.hpp"
#include "neap/memory/tag.hpp"

namespace neap::tensor {

using memory::SpaceId;

/// Dtype, shape and space of a tensor: all that a shape rule sees of it.
struct Spec {
  DType dtype = DType::kF32;
  Shape shape;
  SpaceId space = memory::kHost;
  friend bool operator==(const Spec&, const Spec&) = default;
};

struct Layout {
  DType dtype = DType::kF32;
  Shape shape;
  Shape strides;            // strides in elements; 0 where an axis is broadcast
  std::int64_t offset = 0;  // index of the first element

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Row-major without gaps. THROWS: ShapeError when strides do not fit 64 bits.
NEAP_API Layout dense_layout(DType dtype, const Shape& shape);

/// Row-major without gaps (extents of 1 may have any stride).
NEAP_API bool is_contiguous(const Layout& layout) noexcept;

/// `order[i]` is the old axis that becomes axis i.
/// THROWS: ShapeError unless `order` is a permutation of the axes.
NEAP_API Layout permuted(const Layout& layout, const Shape& order);

/// Positions start, start + step, ... of an axis, `count` of them.
struct Range {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

/// The range of an axis that Python means by [start:stop:step]: negative
/// positions count from the end, and both are cut to the extent.
/// THROWS: ValueError unless step > 0.
NEAP_API Range cut_range(std::int64_t extent, std::int64_t start,
                         std::int64_t stop, std::int64_t step);

/// REQUIRES: the axis, counted from the start, has all of the range.
NEAP_API Layout sliced(const Layout& layout, int axis, const Range& range);
/// Python's slices. THROWS: ShapeError for a bad axis, ValueError as cut_range.
NEAP_API Layout sliced(const Layout& layout, int axis, std::int64_t start,
                       std::int64_t stop, std::int64_t step);

/// Broadcast to `shape`. THROWS: ShapeError.
NEAP_API Layout expanded(const Layout& layout, const Shape& shape);

/// The same elements in row-major order as `shape`, or nothing where that
/// needs a copy. THROWS: ShapeError when the counts differ.
NEAP_API std::optional<Layout> reshaped(const Layout& layout,
                                        const Shape& shape);

/// Bytes from the storage's start to the end of the farthest element.
NEAP_API Bytes extent_bytes(const Layout& layout);

}  // namespace neap::tensor
