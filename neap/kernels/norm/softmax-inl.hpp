// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by softmax, log_softmax and cross_entropy: rows in dense blocks, the
// largest element of a row and sums along it. A sum has one order, whatever the
// layout: blocks of kReduceBlock; in a block element j goes to partial j mod
// 16, and partials are joined by halves (0+8, 1+9, ..; 0+4, ..); blocks are
// joined in order, in double. Short rows are worked on side by side, in the
// same order: softmax_tile-inl.hpp.
#if defined(NEAP_KERNELS_SOFTMAX_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_SOFTMAX_INL_HPP_
#undef NEAP_KERNELS_SOFTMAX_INL_HPP_
#else
#define NEAP_KERNELS_SOFTMAX_INL_HPP_
#endif

#include <limits>

#include "hwy/highway.h"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"
#include "neap/kernels/reduction/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

inline constexpr std::size_t kSoftmaxPartials = 16;

// A constant of a row: one number, or one a lane where lanes are rows.
template <class D>
HWY_INLINE hn::Vec<D> spread(D d, hn::TFromD<D> x) {
  return hn::Set(d, x);
}
template <class D>
HWY_INLINE hn::Vec<D> spread(D, hn::Vec<D> v) {
  return v;
}

struct Itself {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};

struct Product {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

/// e^(x - m)
template <class C>
struct ExpAbove {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exp_of(d, hn::Sub(x, spread(d, m)));
  }
  C m;
};

/// c x
template <class C>
struct Times {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, spread(d, factor));
  }
  C factor;
};

// The first `count` elements, the others 0.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* x, std::size_t count) {
#if HWY_TARGET <= HWY_AVX2  // where a masked load touches no more than it takes
  return hn::MaskedLoad(hn::FirstN(d, count), d, x);
#else
  return load_some(d, x, count);
#endif
}

template <class D, class T>
HWY_INLINE void store_first(D d, hn::Vec<D> v, T* y, std::size_t count) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, count), d, y);
#else
  store_some(d, v, y, count);
#endif
}

/// y[i] = op(x[i]...) of one block; y may be one of them.
template <class Op, class T, class... In>
HWY_INLINE void map_block(const Op& op, std::int64_t size, T* y,
                          const In*... x) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(size);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(op(d, hn::LoadU(d, x + i)...), d, y + i);
  }
  if (const std::size_t rest = count - i; rest != 0) {
    store_first(d, op(d, load_first(d, x + i, rest)...), y + i, rest);
  }
}

// The sum of the lanes, by halves.
template <class D>
HWY_INLINE hn::TFromD<D> sum_of_lanes([[maybe_unused]] D d, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR  // which has one lane, and no halves
  if constexpr (hn::MaxLanes(d) > 1) {
    const hn::Half<D> half;
    return sum_of_lanes(
        half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

/// The sum of map(x[i]...) over one block.
template <class Map, class T, class... In>
HWY_INLINE T sum_of_block(const Map& map, std::int64_t size, const T* x,
                          const In*... more) {
  const hn::CappedTag<T, kSoftmaxPartials> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kVectors = kSoftmaxPartials / kLanes;
  const auto count = static_cast<std::size_t>(size);
  V partials[kVectors];
  for (V& partial : partials) {
    partial = hn::Zero(d);
  }
  std::size_t i = 0;
  for (; i + kSoftmaxPartials <= count; i += kSoftmaxPartials) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      partials[v] = hn::Add(partials[v], map(d, hn::LoadU(d, x + at),
                                             hn::LoadU(d, more + at)...));
    }
  }
  for (std::size_t v = 0; i < count; ++v, i += kLanes) {
    const std::size_t rest = HWY_MIN(count - i, kLanes);
    const V mapped =
        map(d, load_first(d, x + i, rest), load_first(d, more + i, rest)...);
    partials[v] =
        hn::Add(partials[v], hn::IfThenElseZero(hn::FirstN(d, rest), mapped));
  }
  for (std::size_t half = kVectors / 2; half > 0; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) {
      partials[v] = hn::Add(partials[v], partials[v + half]);
    }
  }
  return sum_of_lanes(d, partials[0]);
}

/// The largest of a block and `m`, in any order: one NaN makes every result of
/// the row NaN through the sum, whatever is found here.
template <class T>
HWY_INLINE T largest_of_block(std::int64_t size, const T* x, T m) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kVectors = 4;
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(size);
  const V start = hn::Set(d, m);
  V largest[kVectors] = {start, start, start, start};
  std::size_t i = 0;
  for (; i + kVectors * lanes <= count; i += kVectors * lanes) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      largest[v] = hn::Max(hn::LoadU(d, x + i + v * lanes), largest[v]);
    }
  }
  for (; i < count; i += lanes) {
    const std::size_t rest = HWY_MIN(count - i, lanes);
    const V some =
        hn::IfThenElse(hn::FirstN(d, rest), load_first(d, x + i, rest), start);
    largest[0] = hn::Max(some, largest[0]);
  }
  const V both =
      hn::Max(hn::Max(largest[0], largest[1]), hn::Max(largest[2], largest[3]));
  return hn::GetLane(hn::MaxOfLanes(d, both));
}

/// Calls body(first, count) for the blocks of a row.
template <class Body>
HWY_INLINE void for_each_block(std::int64_t length, const Body& body) {
  for (std::int64_t first = 0; first < length; first += kReduceBlock) {
    body(first, std::min(kReduceBlock, length - first));
  }
}

/// A row of an operand, in blocks that are dense.
template <class T>
class RowIn {
 public:
  explicit RowIn(const Rows& rows) : rows_(rows), block_(rows) {}
  void go_to(std::int64_t row) { row_ = rows_.at<const T>(row); }
  const T* read(std::int64_t first, std::int64_t count) {
    return block_.read(row_, first, count);
  }

 private:
  const Rows& rows_;
  RowBlock<T> block_;
  const T* row_ = nullptr;
};

/// The sum over the row of map(in...).
template <class T, class Map, class... In>
HWY_INLINE T sum_of_row(const Map& map, std::int64_t length, In&... in) {
  double total = 0.0;
  for_each_block(length, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
    total +=
        static_cast<double>(sum_of_block(map, count, in.read(first, count)...));
  });
  return static_cast<T>(total);
}

template <class T>
HWY_INLINE T largest_of_row(std::int64_t length, RowIn<T>& in) {
  T m = -std::numeric_limits<T>::infinity();
  for_each_block(length, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
    m = largest_of_block(count, in.read(first, count), m);
  });
  return m;
}

/// Row `row` of `out` = op(in...), block by block.
template <class T, class Op, class... In>
HWY_INLINE void map_row(const Op& op, const Rows& out, RowBlock<T>& block,
                        std::int64_t row, In&... in) {
  T* to = out.at<T>(row);
  for_each_block(
      out.length(), [&](std::int64_t first, std::int64_t count) HWY_ATTR {
        map_block(op, count, block.place(to, first), in.read(first, count)...);
        block.commit(to, first, count);
      });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
