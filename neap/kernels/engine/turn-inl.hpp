// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Squares of a matrix transposed in registers: as many vectors as a vector has
// lanes. With AVX3 and AVX2.
#if defined(NEAP_KERNELS_TURN_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_TURN_INL_HPP_
#undef NEAP_KERNELS_TURN_INL_HPP_
#else
#define NEAP_KERNELS_TURN_INL_HPP_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

template <class T>
using Lanes = hn::ScalableTag<T>;
template <class T>
inline constexpr std::size_t kCount = hn::MaxLanes(Lanes<T>());

// Blocks of 128 bits, one of each of the vectors `from`, for each block.
template <class T>
HWY_INLINE void turn_blocks(
    const hn::Vec<Lanes<T>> (&from)[kCount<T> * sizeof(T) / 16],
    hn::Vec<Lanes<T>>* to, std::size_t step) {
  const Lanes<T> d;
#if HWY_TARGET == HWY_AVX3
  const hn::ScalableTag<float> f;
  const auto pick = [&](auto a, auto b, auto which) HWY_ATTR {
    constexpr int kWhich = decltype(which)::value;
    return hn::BitCast(
        d, hn::Vec<hn::ScalableTag<float>>{_mm512_shuffle_f32x4(
               hn::BitCast(f, a).raw, hn::BitCast(f, b).raw, kWhich)});
  };
  constexpr std::integral_constant<int, 0x88> kEven;
  constexpr std::integral_constant<int, 0xDD> kOdd;
  const auto even01 = pick(from[0], from[1], kEven);
  const auto odd01 = pick(from[0], from[1], kOdd);
  const auto even23 = pick(from[2], from[3], kEven);
  const auto odd23 = pick(from[2], from[3], kOdd);
  to[0] = pick(even01, even23, kEven);
  to[step] = pick(odd01, odd23, kEven);
  to[2 * step] = pick(even01, even23, kOdd);
  to[3 * step] = pick(odd01, odd23, kOdd);
#else
  to[0] = hn::ConcatLowerLower(d, from[1], from[0]);
  to[step] = hn::ConcatUpperUpper(d, from[1], from[0]);
#endif
}

// The columns of a square of rows.
template <class V>
HWY_INLINE void turn(float /*type*/, const V* row, V* column) {
  const Lanes<float> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  constexpr std::size_t kBlocks = kCount<float> / 4;
  V block[4][kBlocks];
  for (std::size_t g = 0; g < kBlocks; ++g) {
    const V* r = row + 4 * g;
    const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, r[0], r[1]));
    const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, r[0], r[1]));
    const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, r[2], r[3]));
    const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, r[2], r[3]));
    block[0][g] = hn::BitCast(d, hn::InterleaveLower(wide, low01, low23));
    block[1][g] = hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23));
    block[2][g] = hn::BitCast(d, hn::InterleaveLower(wide, high01, high23));
    block[3][g] = hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23));
  }
  for (std::size_t k = 0; k < 4; ++k) {
    turn_blocks<float>(block[k], column + k, 4);
  }
}

template <class V>
HWY_INLINE void turn(double /*type*/, const V* row, V* column) {
  const Lanes<double> d;
  constexpr std::size_t kBlocks = kCount<double> / 2;
  V block[2][kBlocks];
  for (std::size_t g = 0; g < kBlocks; ++g) {
    block[0][g] = hn::InterleaveLower(d, row[2 * g], row[2 * g + 1]);
    block[1][g] = hn::InterleaveUpper(d, row[2 * g], row[2 * g + 1]);
  }
  for (std::size_t k = 0; k < 2; ++k) {
    turn_blocks<double>(block[k], column + k, 2);
  }
}

#endif  // HWY_TARGET

}  // namespace
}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
