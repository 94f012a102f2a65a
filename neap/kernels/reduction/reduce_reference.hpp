// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The definition of the order in reduce.hpp as plain scalar code. Vector
// kernels give the same bits.
#pragma once

#include <array>
#include <type_traits>

#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/reduction/reduce.hpp"

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

/// Result R of the block of a row that begins at `first`: join over map(x).
template <class T, class R, class Join, class Map>
R block_reference(const T* x, const AxesOf& list, std::int64_t first, R neutral,
                  const Join& join, const Map& map) noexcept {
  std::array<R, kReducePartials<R>> partials;
  partials.fill(neutral);
  const std::int64_t end = std::min(first + kReduceBlock, list.count());
  for (std::int64_t j = first; j < end; ++j) {
    R& partial = partials[static_cast<std::size_t>(j % kReducePartials<R>)];
    partial = join(partial, map(x[list.offset(j)]));
  }
  for (std::size_t half = kReducePartials<R> / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      partials[i] = join(partials[i], partials[i + half]);
    }
  }
  return partials[0];
}

/// The same of a column.
template <class T, class R, class Join, class Map>
R column_reference(const T* x, const AxesOf& list, std::int64_t first,
                   R neutral, const Join& join, const Map& map) noexcept {
  R total = neutral;
  const std::int64_t end = std::min(first + kReduceBlock, list.count());
  for (std::int64_t j = first; j < end; ++j) {
    total = join(total, map(x[list.offset(j)]));
  }
  return total;
}

inline bool is_by_rows(const Strided& x, std::uint64_t axes) noexcept {
  const int rank = x.shape.rank();
  return rank == 0 || (axes >> (rank - 1) & 1U) != 0;
}

}  // namespace detail

/// Calls visit(x, y, list) for each output: its first element, its place and
/// the axes of its list.
template <class T, class Visit>
void for_each_list(const Args& args, std::uint64_t axes,
                   const Visit& visit) noexcept {
  const Strided& x = args.in[0];
  const Strided& y = args.out[0];
  const detail::AxesOf list(x, axes, true);
  const detail::AxesOf outputs(x, axes, false);
  const detail::AxesOf places({y.data, y.dtype, x.shape, y.strides}, axes,
                              false);
  for (std::int64_t i = 0; i < outputs.count(); ++i) {
    visit(x.as<T>() + outputs.offset(i), places.offset(i), list);
  }
}

/// y = finish(join over the blocks of join over map(x)). R is the type within a
/// block; blocks are joined in double, which is exact for a join that selects.
template <class T, class R, class Join, class Map, class Finish>
void reduce_reference(const Args& args, std::uint64_t axes, R neutral,
                      const Join& join, const Map& map,
                      const Finish& finish) noexcept {
  const bool by_rows = detail::is_by_rows(args.in[0], axes);
  for_each_list<T>(
      args, axes,
      [&](const T* x, std::int64_t place, const detail::AxesOf& list) {
        auto total = static_cast<double>(neutral);
        for (std::int64_t j = 0; j < list.count(); j += kReduceBlock) {
          const R block =
              by_rows
                  ? detail::block_reference(x, list, j, neutral, join, map)
                  : detail::column_reference(x, list, j, neutral, join, map);
          total = join(total, static_cast<double>(block));
        }
        args.out[0].as<T>()[place] = static_cast<T>(finish(total));
      });
}

/// The same of the elements as they are.
template <class T, class Join>
void reduce_reference(const Args& args, std::uint64_t axes, T neutral,
                      const Join& join) noexcept {
  reduce_reference<T>(
      args, axes, neutral, join, [](T x) { return x; },
      [](double total) { return total; });
}

}  // namespace neap::kernels
