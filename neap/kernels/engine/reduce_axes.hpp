// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The axes of a reduction by what becomes of them, merged where they lie
// behind one another. For reduce.cpp.
#pragma once

#include <array>

#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {

/// Axes of one kind, with the strides of in[0] and of the outputs.
struct Axes {
  Shape extents;
  Shape in;
  std::array<Shape, 2> out;

  std::int64_t count() const noexcept { return extents.element_count(); }
  std::int64_t offset(const Shape& strides, std::int64_t i) const noexcept {
    return offset_at(extents, strides, i);
  }
  bool is_dense() const noexcept { return strides_are_dense(extents, in); }

  void push_back(std::int64_t extent, std::int64_t in_stride,
                 const std::array<std::int64_t, 2>& out_strides) noexcept {
    if (extent == 1) {
      return;
    }
    const int last = extents.rank() - 1;
    if (last >= 0 && in[last] == extent * in_stride &&
        out[0][last] == extent * out_strides[0] &&
        out[1][last] == extent * out_strides[1]) {
      extents[last] *= extent;
      in[last] = in_stride;
      out[0][last] = out_strides[0];
      out[1][last] = out_strides[1];
      return;
    }
    extents.push_back(extent);
    in.push_back(in_stride);
    out[0].push_back(out_strides[0]);
    out[1].push_back(out_strides[1]);
  }
};

struct ReduceAxes {
  Axes kept;  // but for the columns
  Axes reduced;
  Axes columns;  // the kept axes after the last reduced one
  bool by_rows = false;

  ReduceAxes(const Args& args, std::uint64_t axes) noexcept {
    const Strided& x = args.in[0];
    const int rank = x.shape.rank();
    int first_column = rank;
    while (first_column > 0 && (axes >> (first_column - 1) & 1U) == 0) {
      --first_column;
    }
    by_rows = first_column == rank;
    for (int axis = 0; axis < rank; ++axis) {
      const bool is_reduced = (axes >> axis & 1U) != 0;
      std::array<std::int64_t, 2> out{};
      for (std::size_t k = 0; k < args.out.size() && !is_reduced; ++k) {
        out[k] = args.out[k].strides[axis];
      }
      Axes& part = is_reduced ? reduced : axis >= first_column ? columns : kept;
      // Without elements there is nothing to step over, and no data.
      part.push_back(x.shape[axis], x.data != nullptr ? x.strides[axis] : 0,
                     out);
    }
  }
};

/// Offsets of the elements of a view in row-major order, from one on.
class Walk {
 public:
  Walk(const Shape& extents, const Shape& strides, std::int64_t index) noexcept
      : extents_(extents), strides_(strides) {
    for (int axis = extents.rank() - 1; axis >= 0; --axis) {
      const auto i = static_cast<std::size_t>(axis);
      at_[i] = extents[axis] > 0 ? index % extents[axis] : 0;
      index = extents[axis] > 0 ? index / extents[axis] : 0;
      offset_ += at_[i] * strides[axis];
    }
  }

  std::int64_t offset() const noexcept { return offset_; }

  void next() noexcept {
    for (int axis = extents_.rank() - 1; axis >= 0; --axis) {
      const auto i = static_cast<std::size_t>(axis);
      offset_ += strides_[axis];
      if (++at_[i] < extents_[axis]) {
        return;
      }
      offset_ -= at_[i] * strides_[axis];
      at_[i] = 0;
    }
  }

 private:
  const Shape& extents_;
  const Shape& strides_;
  std::array<std::int64_t, kMaxRank> at_{};
  std::int64_t offset_ = 0;  // elements
};

}  // namespace neap::kernels
