// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The definition of the order in reduce.hpp as plain scalar code. Vector
// kernels give the same bits.
#pragma once

#include <array>
#include <type_traits>

#include "neap/kernels/reduce.hpp"
#include "neap/kernels/strides.hpp"

namespace neap::kernels {
namespace detail {

/// Some axes of a view: of those in the mask, or of the others.
struct AxesOf {
  AxesOf(const Strided& view, std::uint64_t axes, bool is_in_mask) {
    for (int axis = 0; axis < view.shape.rank(); ++axis) {
      if (((axes >> axis & 1U) != 0) == is_in_mask) {
        extents.push_back(view.shape[axis]);
        strides.push_back(view.strides[axis]);
      }
    }
  }

  std::int64_t count() const noexcept { return extents.element_count(); }
  std::int64_t offset(std::int64_t index) const noexcept {
    return offset_at(extents, strides, index);
  }

  Shape extents;
  Shape strides;
};

/// A block's result R: join over map(x).
template <class T, class R, class Join, class Map>
R block_reference(const T* x, const AxesOf& list, std::int64_t first, R neutral,
                  const Join& join, const Map& map) noexcept {
  std::array<R, kReducePartials> partials;
  partials.fill(neutral);
  const std::int64_t end = std::min(first + kReduceBlock, list.count());
  for (std::int64_t j = first; j < end; ++j) {
    R& partial = partials[static_cast<std::size_t>(j % kReducePartials)];
    partial = join(partial, map(x[list.offset(j)]));
  }
  for (std::size_t half = kReducePartials / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      partials[i] = join(partials[i], partials[i + half]);
    }
  }
  return partials[0];
}

}  // namespace detail

/// y = join over the listed elements of x. Blocks are joined in double, which
/// is exact for a join that selects.
template <class T, class Join>
void reduce_reference(const Args& args, std::uint64_t axes, T neutral,
                      const Join& join) noexcept {
  const Strided& x = args.in[0];
  const Strided& y = args.out[0];
  const detail::AxesOf list(x, axes, true);
  const detail::AxesOf outputs(x, axes, false);
  const detail::AxesOf places({y.data, y.dtype, x.shape, y.strides}, axes,
                              false);
  const int rank = x.shape.rank();
  const bool is_by_rows = rank == 0 || (axes >> (rank - 1) & 1U) != 0;
  for (std::int64_t i = 0; i < outputs.count(); ++i) {
    const T* from = x.as<T>() + outputs.offset(i);
    T& to = y.as<T>()[places.offset(i)];
    if (is_by_rows) {
      auto total = static_cast<double>(neutral);
      for (std::int64_t j = 0; j < list.count(); j += kReduceBlock) {
        total = join(total, static_cast<double>(detail::block_reference(
                                from, list, j, neutral, join,
                                [](T element) { return element; })));
      }
      to = static_cast<T>(total);
    } else {
      T total = neutral;
      for (std::int64_t j = 0; j < list.count(); ++j) {
        total = join(total, from[list.offset(j)]);
      }
      to = total;
    }
  }
}

}  // namespace neap::kernels
