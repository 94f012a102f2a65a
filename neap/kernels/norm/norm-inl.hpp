// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the norms and their derivatives: sums along a row in the order that
// layer_norm.hpp defines, and xhat from the statistics of a row.
#if defined(NEAP_KERNELS_NORM_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_NORM_INL_HPP_
#undef NEAP_KERNELS_NORM_INL_HPP_
#else
#define NEAP_KERNELS_NORM_INL_HPP_
#endif

#include "hwy/highway.h"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/norm/layer_norm.hpp"
#include "neap/kernels/reduction/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// The sum of the lanes, by halves.
template <class D, class V>
HWY_INLINE hn::TFromD<D> fold([[maybe_unused]] D d, V v) {
#if HWY_TARGET != HWY_SCALAR  // which has one lane, and no halves
  if constexpr (hn::MaxLanes(d) > 1) {
    const hn::Half<D> half;
    return fold(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

/// Adds one block of rows to `totals`. `map(d, sums, v...)` adds one vector of
/// terms to each of sums[0], .., sums[kSums - 1].
template <std::size_t kSums, class Map, class T, class... In>
HWY_INLINE void add_block(const Map& map, std::int64_t size, double* totals,
                          const T* first, const In*... rest) {
  const hn::CappedTag<T, kNormPartials> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kVectors = kNormPartials / kLanes;
  const auto count = static_cast<std::size_t>(size);
  V partials[kVectors][kSums];
  for (auto& sums : partials) {
    for (V& sum : sums) {
      sum = hn::Zero(d);
    }
  }
  std::size_t i = 0;
  for (; i + kNormPartials <= count; i += kNormPartials) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      map(d, partials[v], hn::LoadU(d, first + at), hn::LoadU(d, rest + at)...);
    }
  }
  for (std::size_t v = 0; i < count; ++v, i += kLanes) {
    const std::size_t left = HWY_MIN(count - i, kLanes);
    V sums[kSums];
    std::copy(partials[v], partials[v] + kSums, sums);
    map(d, sums, load_some(d, first + i, left),
        load_some(d, rest + i, left)...);
    for (std::size_t s = 0; s < kSums; ++s) {
      partials[v][s] =
          hn::IfThenElse(hn::FirstN(d, left), sums[s], partials[v][s]);
    }
  }
  for (std::size_t s = 0; s < kSums; ++s) {
    for (std::size_t half = kVectors / 2; half > 0; half /= 2) {
      for (std::size_t v = 0; v < half; ++v) {
        partials[v][s] = hn::Add(partials[v][s], partials[v + half][s]);
      }
    }
    totals[s] += static_cast<double>(fold(d, partials[0][s]));
  }
}

/// xhat of one row, (x - near) scale + rest: the mean is the sum of two
/// numbers, because an offset common to the row may be far larger than what
/// differs in it, and x - near is then exact.
template <class T, bool kCentered>
struct Normal {
  Normal() = default;
  Normal(double mean, double factor) noexcept
      : near(kCentered ? static_cast<T>(mean) : T(0)),
        scale(static_cast<T>(factor)),
        rest(kCentered
                 ? static_cast<T>((static_cast<double>(near) - mean) * factor)
                 : T(0)) {}

  template <class D, class V>
  HWY_INLINE V from_near(D d, V x) const {
    if constexpr (kCentered) {
      return hn::Sub(x, hn::Set(d, near));
    } else {
      return x;
    }
  }
  template <class D, class V>
  HWY_INLINE V xhat(D d, V x) const {
    if constexpr (kCentered) {
      return hn::MulAdd(from_near(d, x), hn::Set(d, scale), hn::Set(d, rest));
    } else {
      return hn::Mul(x, hn::Set(d, scale));
    }
  }

  T near{};
  T scale{};
  T rest{};
};

/// The normalisation by a row's statistics, which lie `stride` apart.
template <class T, bool kCentered>
Normal<T, kCentered> normal_of(const double* stats, std::int64_t stride) {
  return kCentered ? Normal<T, kCentered>(stats[0], stats[stride])
                   : Normal<T, kCentered>(0.0, stats[0]);
}

/// Rows that are summed before they are gone over again: so many that the sums
/// of one are joined while the next is read, and all stay in the nearest cache.
constexpr std::int64_t kRowsInHand = 8;

template <class T>
std::int64_t rows_in_hand(std::int64_t length) {
  constexpr std::int64_t kNearCache = 12 << 10;  // bytes of one operand
  const std::int64_t row =
      std::max<std::int64_t>(length * static_cast<std::int64_t>(sizeof(T)), 1);
  return std::clamp<std::int64_t>(kNearCache / row, 1, kRowsInHand);
}

HWY_MAYBE_UNUSED inline Rows last_axis(const Strided& view) {
  return {view, view.shape.rank() - 1};
}

/// Calls body(first, count) for the blocks of a row.
template <class Body>
HWY_INLINE void for_blocks(std::int64_t length, const Body& body) {
  for (std::int64_t first = 0; first < length; first += kReduceBlock) {
    body(first, std::min(kReduceBlock, length - first));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
