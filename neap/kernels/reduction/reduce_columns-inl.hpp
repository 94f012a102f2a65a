// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Blocks of columns of a reduction, in the order that reduce.hpp defines.
#if defined(NEAP_KERNELS_REDUCE_COLUMNS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_REDUCE_COLUMNS_INL_HPP_
#undef NEAP_KERNELS_REDUCE_COLUMNS_INL_HPP_
#else
#define NEAP_KERNELS_REDUCE_COLUMNS_INL_HPP_
#endif

#include "neap/kernels/reduction/reduce_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// Rows [first, first + kRows) into one vector of columns.
template <class Join, std::size_t kRows, class Map, class D, class T>
HWY_INLINE hn::Vec<D> join_rows(const Map& map, D d, const T* const* rows,
                                std::size_t column, hn::Vec<D> total) {
  for (std::size_t r = 0; r < kRows; ++r) {
    total = Join::join(total, map(d, load_as(d, rows[r] + column)));
  }
  return total;
}

template <class Join, std::size_t kRows, class Map, class T, class R>
HWY_INLINE void join_row_group(const Map& map, const Tile& tile,
                               std::int64_t first, R* totals) {
  const hn::ScalableTag<R> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto columns = static_cast<std::size_t>(tile.columns);
  const T* rows[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    rows[r] = tile.row<T>(first + static_cast<std::int64_t>(r));
  }
  std::size_t c = 0;
  for (; c + lanes <= columns; c += lanes) {
    hn::Store(join_rows<Join, kRows>(map, d, rows, c, hn::Load(d, totals + c)),
              d, totals + c);
  }
  if (c < columns) {
    const std::size_t rest = columns - c;
    auto total = hn::Load(d, totals + c);
    for (std::size_t r = 0; r < kRows; ++r) {
      total = Join::join(total, map(d, load_some_as(d, rows[r] + c, rest)));
    }
    hn::Store(total, d, totals + c);  // beyond `columns` nobody looks
  }
}

// Few columns: kVectors vectors of them stay in registers from row to row. The
// last vector holds `last` columns. Returns false, and no result, where Join is
// for numbers alone and there was NaN.
template <class Join, class T, std::size_t kVectors, class Map, class R>
HWY_INLINE bool reduce_few_columns(const Map& map, const Tile& tile,
                                   std::size_t last, R* totals) {
  const hn::ScalableTag<R> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  WatchFor<Join, hn::ScalableTag<R>> watch;
  V total[kVectors];
  for (V& t : total) {
    t = Join::neutral(d);
  }
  const auto add = [&](std::size_t v, V x) HWY_ATTR {
    const V mapped = map(d, x);
    watch.see(v, mapped);
    total[v] = Join::join(total[v], mapped);
  };
  const auto add_row = [&](const T* x, const auto& load_last) HWY_ATTR {
    for (std::size_t v = 0; v + 1 < kVectors; ++v) {
      add(v, load_as(d, x + v * kLanes));
    }
    add(kVectors - 1, load_last(x + (kVectors - 1) * kLanes));
  };
  if (last == kLanes) {
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      add_row(tile.row<T>(r),
              [d](const T* x) HWY_ATTR { return load_as(d, x); });
    }
  } else {
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      add_row(tile.row<T>(r), [d, last](const T* x) HWY_ATTR {
        return load_some_as(d, x, last);
      });
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    hn::Store(total[v], d, totals + v * kLanes);
  }
  return watch.saw_numbers();
}

inline constexpr std::size_t kFewVectors = 4;

/// Whether all columns fit a few registers.
template <class R>
HWY_INLINE bool are_few(const Tile& tile) {
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<R>());
  return static_cast<std::size_t>(tile.columns) <= kFewVectors * kLanes;
}

/// The same for any such number of vectors. REQUIRES: are_few<R>(tile).
template <class Join, class T, class Map, class R>
HWY_INLINE bool reduce_few_columns(const Map& map, const Tile& tile,
                                   R* totals) {
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<R>());
  const auto columns = static_cast<std::size_t>(tile.columns);
  const std::size_t vectors = (columns + kLanes - 1) / kLanes;
  const std::size_t last = columns - (vectors - 1) * kLanes;
  switch (vectors) {
    case 1:
      return reduce_few_columns<Join, T, 1>(map, tile, last, totals);
    case 2:
      return reduce_few_columns<Join, T, 2>(map, tile, last, totals);
    case 3:
      return reduce_few_columns<Join, T, 3>(map, tile, last, totals);
    default:
      return reduce_few_columns<Join, T, 4>(map, tile, last, totals);
  }
}

/// A block of columns: totals[c] = join over map of column c, in elements of
/// R. `totals` is aligned and has room for kReduceColumns.
template <class Join, class T, class Map, class R>
HWY_INLINE void reduce_columns(const Map& map, const Tile& tile, R* totals) {
  const hn::ScalableTag<R> d;
  const auto columns = static_cast<std::size_t>(tile.columns);
  if (are_few<R>(tile)) {
    if constexpr (requires { typename Join::Quick; }) {
      if (reduce_few_columns<typename Join::Quick, T>(map, tile, totals)) {
        return;
      }
    }
    reduce_few_columns<Join, T>(map, tile, totals);
    return;
  }
  for (std::size_t c = 0; c < columns; c += hn::Lanes(d)) {
    hn::Store(Join::neutral(d), d, totals + c);
  }
  // Few, as rows are often a power of two apart and share the ways of a cache.
  constexpr std::int64_t kGroup = 4;
  std::int64_t r = 0;
  for (; r + kGroup <= tile.row_count; r += kGroup) {
    join_row_group<Join, kGroup, Map, T>(map, tile, r, totals);
  }
  for (; r < tile.row_count; ++r) {
    join_row_group<Join, 1, Map, T>(map, tile, r, totals);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
