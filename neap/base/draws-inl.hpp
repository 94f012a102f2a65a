// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// kDrawnTogether elements of a draw at a time. Lanes are elements, 64 bits
// each: a word of Philox lies in the lower half, and what the upper half holds
// does not matter.
//
// A normal number of f32 is the rounded result of logarithm, root and cosine in
// f64. Vectors compute these to about 2^-49, and an element whose rounding that
// leaves open is computed again by the standard library: one in a million, and
// none of them differs from what the standard library alone would give.
#if defined(NEAP_BASE_DRAWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_BASE_DRAWS_INL
#undef NEAP_BASE_DRAWS_INL
#else
#define NEAP_BASE_DRAWS_INL
#endif

#include <cmath>
#include <cstdint>
#include <numbers>

#include "hwy/highway.h"
#include "neap/base/drawn.hpp"
#include "neap/base/draws.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::base::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

inline constexpr std::int64_t kDrawnTogether = 1;

template <class T>
HWY_INLINE void some_uniform(const DrawKey& key, std::uint64_t first, T* y) {
  *y = drawn_uniform<T>(key.block(first));
}

HWY_INLINE void some_normal(const DrawKey& key, std::uint64_t first,
                            const NormalShape& shape, float* y) {
  *y = static_cast<float>(shape.mean +
                          shape.stddev * normal_f64(key.block(first)));
}

#else

using Wide = hn::ScalableTag<std::uint64_t>;
using Real = hn::ScalableTag<double>;
using VWide = hn::Vec<Wide>;
using VReal = hn::Vec<Real>;

inline constexpr std::size_t kWideLanes = hn::MaxLanes(Wide());
inline constexpr std::size_t kGroups = 2;  // vectors whose rounds interleave
inline constexpr std::int64_t kDrawnTogether = kGroups * kWideLanes;

/// The four words of an element a lane.
struct Words {
  VWide word[4];
};

// The product of the lower halves.
HWY_INLINE VWide product(VWide a, VWide b) {
  const hn::Repartition<std::uint32_t, Wide> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
}

/// base::philox of the elements from `first` on.
HWY_INLINE void draw_words(const DrawKey& key, std::uint64_t first,
                           Words (&words)[kGroups]) {
  const Wide d;
  for (std::size_t g = 0; g < kGroups; ++g) {
    VWide(&c)[4] = words[g].word;
    c[0] = hn::Iota(d, first + g * kWideLanes);
    c[1] = hn::ShiftRight<32>(c[0]);
    c[2] = hn::Set(d, key.draw);
    c[3] = hn::Set(d, key.draw >> 32U);
  }
  const VWide mul0 = hn::Set(d, 0xD2511F53U);
  const VWide mul1 = hn::Set(d, 0xCD9E8D57U);
  auto k0 = static_cast<std::uint32_t>(key.seed);
  auto k1 = static_cast<std::uint32_t>(key.seed >> 32U);
  for (int round = 0; round < 10; ++round) {
    const VWide key0 = hn::Set(d, k0);
    const VWide key1 = hn::Set(d, k1);
    for (Words& group : words) {
      VWide(&c)[4] = group.word;
      const VWide p0 = product(mul0, c[0]);
      const VWide p1 = product(mul1, c[2]);
      c[0] = hn::Xor3(hn::ShiftRight<32>(p1), c[1], key0);
      c[2] = hn::Xor3(hn::ShiftRight<32>(p0), c[3], key1);
      c[1] = p1;
      c[3] = p0;
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
}

/// uniform_f64 of two words.
HWY_INLINE VReal uniform_of(VWide high, VWide low) {
  const Wide d;
  const Real real;
  const VWide top = hn::ShiftLeft<21>(hn::And(high, hn::Set(d, 0xFFFFFFFFU)));
  const VWide rest =
      hn::And(hn::ShiftRight<11>(low), hn::Set(d, (1U << 21U) - 1U));
  const auto bits = hn::BitCast(hn::RebindToSigned<Wide>(), hn::Or(top, rest));
  return hn::Mul(hn::ConvertTo(real, bits), hn::Set(real, 0x1.0p-53));
}

HWY_INLINE void some_uniform(const DrawKey& key, std::uint64_t first,
                             double* y) {
  Words words[kGroups];
  draw_words(key, first, words);
  for (std::size_t g = 0; g < kGroups; ++g) {
    hn::StoreU(uniform_of(words[g].word[0], words[g].word[1]), Real(),
               y + g * kWideLanes);
  }
}

HWY_INLINE void some_uniform(const DrawKey& key, std::uint64_t first,
                             float* y) {
  static_assert(kGroups == 2);
  const hn::ScalableTag<std::uint32_t> halves;
  const hn::RebindToSigned<decltype(halves)> bits;
  const hn::ScalableTag<float> d;
  Words words[kGroups];
  draw_words(key, first, words);
  const auto word =
      hn::ConcatEven(halves, hn::BitCast(halves, words[1].word[0]),
                     hn::BitCast(halves, words[0].word[0]));
  const auto number =
      hn::ConvertTo(d, hn::BitCast(bits, hn::ShiftRight<8>(word)));
  hn::StoreU(hn::Mul(number, hn::Set(d, 0x1.0p-24F)), d, y);
}

template <std::size_t kCount>
HWY_INLINE VReal polynomial(VReal x, const double (&c)[kCount]) {
  const Real d;
  VReal y = hn::Set(d, c[kCount - 1]);
  for (std::size_t k = kCount - 1; k > 0; --k) {
    y = hn::MulAdd(y, x, hn::Set(d, c[k - 1]));
  }
  return y;
}

/// -2 ln u for u in (0, 1]: u = m 2^e with m in [sqrt(1/2), sqrt(2)], and ln m
/// = 2 s (1 + s^2 / 3 + s^4 / 5 + ...) with s = (m - 1) / (m + 1).
HWY_INLINE VReal minus_twice_log(VReal u) {
  const Real d;
  const hn::RebindToSigned<Real> bits;
  const auto u_bits = hn::BitCast(bits, u);
  const auto above =
      hn::Sub(u_bits, hn::Set(bits, 0x3FE6A09E667F3BCD));  // of sqrt(1/2)
  const auto e = hn::ShiftRight<52>(above);
  const VReal m = hn::BitCast(d, hn::Sub(u_bits, hn::ShiftLeft<52>(e)));
  const VReal one = hn::Set(d, 1.0);
  const VReal s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const VReal z = hn::Mul(s, s);
  constexpr double kSeries[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19};
  const VReal half = hn::MulAdd(hn::Mul(s, z), polynomial(z, kSeries), s);
  const VReal power = hn::ConvertTo(d, e);
  const VReal log =
      hn::MulAdd(power, hn::Set(d, std::numbers::ln2), hn::Add(half, half));
  return hn::Mul(log, hn::Set(d, -2.0));
}

/// cos t for t in [0, 2 pi], and how far t is from a multiple of pi / 2: the
/// relative error is small where that is not.
HWY_INLINE VReal cosine(VReal t, VReal& apart) {
  const Real d;
  const hn::RebindToSigned<Real> bits;
  // A sum that leaves no room for fractions: the whole part is its low bits.
  const VReal shift = hn::Set(d, 0x1.8p52);
  const VReal whole =
      hn::Add(hn::Mul(t, hn::Set(d, 2 / std::numbers::pi)), shift);
  const VReal n = hn::Sub(whole, shift);
  const VReal first =
      hn::NegMulAdd(n, hn::Set(d, 0x1.921fb544p+0), t);  // exact
  const VReal r = hn::NegMulAdd(n, hn::Set(d, 0x1.0b4611a626331p-34), first);
  apart = hn::Abs(r);
  const VReal z = hn::Mul(r, r);
  constexpr double kSin[] = {
      -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
      -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  constexpr double kCos[] = {-1.0 / 2,           1.0 / 24,
                             -1.0 / 720,         1.0 / 40320,
                             -1.0 / 3628800,     1.0 / 479001600,
                             -1.0 / 87178291200, 1.0 / 20922789888000};
  const VReal sin = hn::MulAdd(hn::Mul(r, z), polynomial(z, kSin), r);
  const VReal cos = hn::MulAdd(z, polynomial(z, kCos), hn::Set(d, 1.0));
  // Quarter turns: cos, -sin, -cos, sin.
  const auto quarter = hn::BitCast(bits, whole);
  const auto one = hn::Set(bits, 1);
  const auto is_odd = hn::RebindMask(d, hn::Eq(hn::And(quarter, one), one));
  const auto sign =
      hn::ShiftLeft<62>(hn::And(hn::Add(quarter, one), hn::Set(bits, 2)));
  return hn::Xor(hn::IfThenElse(is_odd, sin, cos), hn::BitCast(d, sign));
}

HWY_INLINE void some_normal(const DrawKey& key, std::uint64_t first,
                            const NormalShape& shape, float* y) {
  constexpr double kError = 0x1.0p-46;  // relative; four times what is known
  constexpr double kTooNear = 0x1.0p-20;
  const Real d;
  const hn::Rebind<float, Real> single;
  const VReal one = hn::Set(d, 1.0);
  Words words[kGroups];
  draw_words(key, first, words);
  for (std::size_t g = 0; g < kGroups; ++g) {
    const VWide(&word)[4] = words[g].word;
    const VReal u = hn::Sub(one, uniform_of(word[0], word[1]));
    const VReal t = hn::Mul(hn::Set(d, 2.0 * std::numbers::pi),
                            uniform_of(word[2], word[3]));
    VReal apart;
    const VReal z = hn::Mul(hn::Sqrt(minus_twice_log(u)), cosine(t, apart));
    const auto image = [&](double factor) HWY_ATTR {
      const VReal moved = hn::Mul(z, hn::Set(d, factor));
      return hn::DemoteTo(single,
                          hn::Add(hn::Set(d, shape.mean),
                                  hn::Mul(hn::Set(d, shape.stddev), moved)));
    };
    const auto low = image(1.0 - kError);
    const auto high = image(1.0 + kError);
    float* to = y + g * kWideLanes;
    hn::StoreU(low, single, to);
    const bool are_sure =
        hn::AllTrue(single, hn::Eq(low, high)) &&
        hn::AllTrue(
            d, hn::And(hn::Gt(apart, hn::Set(d, kTooNear)), hn::Lt(u, one)));
    if (HWY_UNLIKELY(!are_sure)) {
      for (std::size_t k = 0; k < kWideLanes; ++k) {
        const double normal = normal_f64(key.block(first + g * kWideLanes + k));
        to[k] = static_cast<float>(shape.mean + shape.stddev * normal);
      }
    }
  }
}

#endif

}  // namespace
}  // namespace neap::base::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
