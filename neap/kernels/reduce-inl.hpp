// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Vector code for blocks of a reduction, in the order that reduce.hpp defines.
#if defined(NEAP_KERNELS_REDUCE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_REDUCE_INL_HPP_
#undef NEAP_KERNELS_REDUCE_INL_HPP_
#else
#define NEAP_KERNELS_REDUCE_INL_HPP_
#endif

#include <limits>

#include "hwy/highway.h"
#include "neap/kernels/elementwise-inl.hpp"
#include "neap/kernels/reduce.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct AddVectors {
  template <class D>
  static HWY_INLINE hn::Vec<D> neutral(D d) {
    return hn::Zero(d);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::Add(a, b);
  }
};

struct MulVectors {
  template <class D>
  static HWY_INLINE hn::Vec<D> neutral(D d) {
    return constant(d, 1.0);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::Mul(a, b);
  }
};

/// The larger, or the smaller; NaN if either is; b where they are equal.
/// Among numbers alone `Quick` has the same bits.
template <bool kIsMax>
struct ExtremeVectors {
  template <class D>
  static HWY_INLINE hn::Vec<D> neutral(D d) {
    constexpr auto kInfinity = std::numeric_limits<hn::TFromD<D>>::infinity();
    return hn::Set(d, kIsMax ? -kInfinity : kInfinity);
  }
  template <class V>
  static HWY_INLINE auto wins(V a, V b) {
    return kIsMax ? hn::Gt(a, b) : hn::Lt(a, b);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::IfThenElse(hn::Or(wins(a, b), hn::IsNaN(a)), a, b);
  }

  struct Quick {
    static constexpr bool kIsForNumbers = true;

    template <class D>
    static HWY_INLINE hn::Vec<D> neutral(D d) {
      return ExtremeVectors::neutral(d);
    }
    template <class V>
    static HWY_INLINE V join(V a, V b) {
#if HWY_TARGET <= HWY_AVX2  // one instruction, which gives b where equal
      return kIsMax ? hn::Max(a, b) : hn::Min(a, b);
#else
      return hn::IfThenElse(wins(a, b), a, b);
#endif
    }
  };
};

using LargerVectors = ExtremeVectors<true>;
using SmallerVectors = ExtremeVectors<false>;

struct Same {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};

/// A vector of D from elements of T: the same type, or f32 widened to f64.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_as(D d, const T* x) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, x);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), x));
  }
}

/// The first `count` of them, the others 0.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_some_as(D d, const T* x, std::size_t count) {
  const hn::Rebind<T, D> from;
#if HWY_TARGET <= HWY_AVX2  // where a masked load touches no more than it takes
  const auto loaded = hn::MaskedLoad(hn::FirstN(from, count), from, x);
#else
  const auto loaded = load_some(from, x, count);
#endif
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    return loaded;
  } else {
    return hn::PromoteTo(d, loaded);
  }
}

// Joins the lanes of a vector by halves.
template <class Join, class D>
HWY_INLINE hn::TFromD<D> join_lanes([[maybe_unused]] D d, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(d) > 1) {
    const hn::Half<D> half;
    return join_lanes<Join>(
        half, Join::join(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

/// One block: join over map(x[0]), .., map(x[size - 1]), in elements of R.
template <class Join, class Map, class T, class R = T>
HWY_INLINE R reduce_block(const Map& map, const T* x, std::int64_t size,
                          R /*type*/ = R()) {
  const hn::ScalableTag<R> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kVectors = kReducePartials<R> / kLanes;
  const auto count = static_cast<std::size_t>(size);
  if (count <= kLanes) {  // the other partials are neutral
    const V mapped = map(d, load_some_as(d, x, count));
    return join_lanes<Join>(
        d,
        Join::join(Join::neutral(d), hn::IfThenElse(hn::FirstN(d, count),
                                                    mapped, Join::neutral(d))));
  }
  V partials[kVectors];
  for (V& partial : partials) {
    partial = Join::neutral(d);
  }
  std::size_t i = 0;
  for (; i + kReducePartials<R> <= count; i += kReducePartials<R>) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      partials[v] =
          Join::join(partials[v], map(d, load_as(d, x + i + v * kLanes)));
    }
  }
  // The rest: joining the neutral element changes nothing.
  for (std::size_t v = 0; v < kVectors && i < count; ++v, i += kLanes) {
    const std::size_t rest = HWY_MIN(count - i, kLanes);
    const V mapped = map(d, load_some_as(d, x + i, rest));
    const V valid =
        hn::IfThenElse(hn::FirstN(d, rest), mapped, Join::neutral(d));
    partials[v] = Join::join(partials[v], valid);
  }
  for (std::size_t half = kVectors / 2; half > 0; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) {
      partials[v] = Join::join(partials[v], partials[v + half]);
    }
  }
  return join_lanes<Join>(d, partials[0]);
}

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
  constexpr bool kWatches = requires {
    Join::kIsForNumbers;
  };
  V total[kVectors];
  for (V& t : total) {
    t = Join::neutral(d);
  }
  auto is_nan = hn::IsNaN(total[0]);
  const auto add = [&](V& t, V x) HWY_ATTR {
    const V mapped = map(d, x);
    if constexpr (kWatches) {
      is_nan = hn::Or(is_nan, hn::IsNaN(mapped));
    }
    t = Join::join(t, mapped);
  };
  const auto add_row = [&](const T* x, const auto& load_last) HWY_ATTR {
    for (std::size_t v = 0; v + 1 < kVectors; ++v) {
      add(total[v], load_as(d, x + v * kLanes));
    }
    add(total[kVectors - 1], load_last(x + (kVectors - 1) * kLanes));
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
  return hn::AllFalse(d, is_nan);
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

/// One block of columns: totals[c] = join over map of column c, in elements of
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

// The functions of a Reduction from a class R:
//   using In = element; using State = trivially copyable;
//   static constexpr std::int64_t kBlockRows;
//   static State neutral();
//   static State row(const In* x, std::int64_t count);
//   static void columns(const Tile& tile, State* states);
//   static void join(State& total, const State& part, double before,
//                    double added);
//   static void finish(const State* totals, std::int64_t count,
//                      const ReduceFinish& finish);
template <class R>
struct ReductionFunctions {
  using State = typename R::State;
  static State* states(std::byte* bytes) {
    return reinterpret_cast<State*>(bytes);
  }
  static const State* states(const std::byte* bytes) {
    return reinterpret_cast<const State*>(bytes);
  }
  static void start(std::byte* totals, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i) {
      states(totals)[i] = R::neutral();
    }
  }
  static void rows(const Tile& tile, std::byte* parts) noexcept {
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      states(parts)[r] = R::row(tile.row<typename R::In>(r), tile.columns);
    }
  }
  static void columns(const Tile& tile, std::byte* parts) noexcept {
    R::columns(tile, states(parts));
  }
  static void join(std::byte* totals, const std::byte* parts,
                   std::int64_t count, const ReduceSpan& span) noexcept {
    const auto before = static_cast<double>(span.before);
    const auto added =
        static_cast<double>(std::min(span.block, span.length - span.before));
    for (std::int64_t i = 0; i < count; ++i) {
      R::join(states(totals)[i], states(parts)[i], before, added);
    }
  }
  static void fold(std::byte* total, const std::byte* parts, std::int64_t count,
                   const ReduceSpan& span) noexcept {
    ReduceSpan at = span;
    for (std::int64_t i = 0; i < count; ++i, at.before += at.block) {
      join(total, parts + i * static_cast<std::int64_t>(sizeof(State)), 1, at);
    }
  }
  static void finish(const std::byte* totals, std::int64_t count,
                     const ReduceFinish& finish) noexcept {
    R::finish(states(totals), count, finish);
  }
};

template <class R>
constexpr Reduction reduction_of() {
  using F = ReductionFunctions<R>;
  static_assert(sizeof(typename R::State) <= kReduceState);
  return {sizeof(typename R::State),
          R::kBlockRows,
          F::start,
          F::rows,
          F::columns,
          F::join,
          F::fold,
          F::finish};
}

// Joins of states.
template <class S>
struct AddStates {
  using State = S;
  static State neutral() { return State(0); }
  static State join(State a, State b) { return a + b; }
};

/// Of T, or of a byte for bool.
template <class T, bool kIsMax>
struct ExtremeStates {
  using State = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
  static State neutral() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) {
      return kIsMax ? -Limits::infinity() : Limits::infinity();
    } else {
      return kIsMax ? Limits::lowest() : Limits::max();
    }
  }
  static State join(State a, State b) {
    return kIsMax ? larger(a, b) : smaller(a, b);
  }
};

/// reduce_block in the dtype of x, where extremes take a short way: numbers are
/// told from NaN by their sum. Where it is a number, there is no NaN.
template <class Join, class Map, class T>
HWY_INLINE T reduce_plain_block(const Map& map, const T* x,
                                std::int64_t count) {
  if constexpr (requires { typename Join::Quick; }) {
    const T sum = reduce_block<AddVectors>(Same(), x, count);
    if (sum == sum) {
      return reduce_block<typename Join::Quick>(map, x, count);
    }
  }
  return reduce_block<Join>(map, x, count);
}

/// A reduction that joins map(x) for elements x of T: State is T or, for sums,
/// double. `Scalar` joins states and names the neutral one.
template <class T, class Vectors, class Scalar, class Map = Same>
struct PlainReduction {
  using In = T;
  using State = typename Scalar::State;
  static constexpr std::int64_t kBlockRows = kReduceBlock;

  static State neutral() { return Scalar::neutral(); }
  static State row(const T* x, std::int64_t count) {
    return static_cast<State>(reduce_plain_block<Vectors>(Map(), x, count));
  }
  static void columns(const Tile& tile, State* parts) {
    HWY_ALIGN T totals[kReduceColumns];
    reduce_columns<Vectors, T>(Map(), tile, totals);
    for (std::int64_t c = 0; c < tile.columns; ++c) {
      parts[c] = static_cast<State>(totals[c]);
    }
  }
  static void join(State& total, const State& part, double, double) {
    total = Scalar::join(total, part);
  }
  static void finish(const State* totals, std::int64_t count,
                     const ReduceFinish& finish) {
    for (std::int64_t i = 0; i < count; ++i) {
      finish.at<T>(0)[i] = static_cast<T>(totals[i]);
    }
  }
};

/// The same with plain loops, for integers: elements of T joined as State,
/// which goes out. Their order does not matter. A bool is a byte, 0 or 1.
template <class T, class Scalar>
struct IntegerReduction {
  using In = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
  using State = typename Scalar::State;
  static constexpr std::int64_t kBlockRows = kReduceBlock;

  static State neutral() { return Scalar::neutral(); }
  static State row(const In* x, std::int64_t count) {
    State total = neutral();
    for (std::int64_t i = 0; i < count; ++i) {
      total = Scalar::join(total, static_cast<State>(x[i]));
    }
    return total;
  }
  // Whether the sum of a block of bytes fits 32 bits.
  static constexpr bool kIsNarrow =
      sizeof(In) == 1 && std::is_same_v<Scalar, AddStates<std::uint64_t>>;

  static void columns(const Tile& tile, State* parts) {
    if constexpr (kIsNarrow) {
      std::uint32_t sums[kReduceColumns];
      add_bytes(tile, sums);
      std::copy_n(sums, tile.columns, parts);
      return;
    }
    std::fill_n(parts, tile.columns, neutral());
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      const In* x = tile.row<In>(r);
      for (std::int64_t c = 0; c < tile.columns; ++c) {
        parts[c] = Scalar::join(parts[c], static_cast<State>(x[c]));
      }
    }
  }
  static void add_bytes(const Tile& tile, std::uint32_t* sums) {
    static_assert(kReduceBlock * 255 <= 0xFFFFFFFF);
    std::fill_n(sums, tile.columns, 0U);
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      const In* x = tile.row<In>(r);
      for (std::int64_t c = 0; c < tile.columns; ++c) {
        sums[c] += static_cast<std::uint32_t>(x[c]);
      }
    }
  }
  static void join(State& total, const State& part, double, double) {
    total = Scalar::join(total, part);
  }
  static void finish(const State* totals, std::int64_t count,
                     const ReduceFinish& finish) {
    std::copy_n(totals, count, finish.at<State>(0));
  }
};

/// The one of an input's dtype.
template <template <class> class Floats, template <class> class Integers>
Reduction reduction_by_dtype(DType dtype) {
  switch (dtype) {
    case f32:
      return reduction_of<Floats<float>>();
    case i32:
      return reduction_of<Integers<std::int32_t>>();
    case i64:
      return reduction_of<Integers<std::int64_t>>();
    case u8:
      return reduction_of<Integers<std::uint8_t>>();
    case boolean:
      return reduction_of<Integers<bool>>();
    default:
      return reduction_of<Floats<double>>();
  }
}

/// The same where there are floats alone.
template <template <class> class Floats>
Reduction reduction_by_float(DType dtype) {
  return dtype == f32 ? reduction_of<Floats<float>>()
                      : reduction_of<Floats<double>>();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
