// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Vector code for blocks of a reduction, in the order that reduce.hpp defines.
#if defined(NEAP_KERNELS_REDUCE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_REDUCE_INL_HPP_
#undef NEAP_KERNELS_REDUCE_INL_HPP_
#else
#define NEAP_KERNELS_REDUCE_INL_HPP_
#endif

#include <limits>
#include <type_traits>

#include "neap/kernels/reduction/reduce_columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// A block: join over map(x[0]), .., map(x[size - 1]), in elements of R. The
/// watch sees what is joined.
template <class Join, class Map, class T, class R, class Watch>
HWY_INLINE R reduce_watched_block(const Map& map, const T* x, std::int64_t size,
                                  Watch& watch) {
  const hn::ScalableTag<R> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kVectors = kReducePartials<R> / kLanes;
  const auto count = static_cast<std::size_t>(size);
  if (count <= kLanes) {  // the other partials are neutral
    const V mapped = map(d, load_some_as(d, x, count));
    watch.see(0, mapped);
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
      const V mapped = map(d, load_as(d, x + i + v * kLanes));
      watch.see(v, mapped);
      partials[v] = Join::join(partials[v], mapped);
    }
  }
  // The rest: joining the neutral element changes nothing.
  for (std::size_t v = 0; v < kVectors && i < count; ++v, i += kLanes) {
    const std::size_t rest = HWY_MIN(count - i, kLanes);
    const V mapped = map(d, load_some_as(d, x + i, rest));
    watch.see(v, mapped);
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

template <class Join, class Map, class T, class R = T>
HWY_INLINE R reduce_block(const Map& map, const T* x, std::int64_t size,
                          R /*type*/ = R()) {
  NoWatch watch;
  return reduce_watched_block<Join, Map, T, R>(map, x, size, watch);
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

/// States of minima and maxima: elements of T, or bytes for bool.
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

/// reduce_block in the dtype of x, where extremes take a short way through
/// numbers.
template <class Join, class Map, class T>
HWY_INLINE T reduce_plain_block(const Map& map, const T* x,
                                std::int64_t count) {
  if constexpr (requires { typename Join::Quick; }) {
    NanWatch<hn::ScalableTag<T>> watch;
    const T quick = reduce_watched_block<typename Join::Quick, Map, T, T>(
        map, x, count, watch);
    if (watch.saw_numbers()) {
      return quick;
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
