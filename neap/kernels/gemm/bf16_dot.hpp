// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The processor's dot product of bf16 (AVX512_BF16: vcvtneps2bf16, vdpbf16ps)
// in plain C++, bit for bit: what references and odd ends compute with. Found
// in the vendors' manuals and checked against the instructions, the rounding
// for every f32 there is.
//
//   pair   the factors of an even k and of the odd one behind it
//   sum'   fma(b_odd, a_odd, sum), then fma(b_even, a_even, sum'): the odd
//          product first, each multiply-add rounded once, to nearest even
//
// Denormals count as zeros of their sign wherever they come up: what is
// rounded to bf16, the sum that a pair is added to, and each multiply-add's
// result (one is denormal by its value as rounded without a bound on the
// exponent). The processor's rounding and flushing modes play no part.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace neap::kernels {

/// Two factors, that of the even k in the low half.
using Bf16Pair = std::uint32_t;

/// Zero for a denormal.
inline float without_denormal(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return (bits & 0x7F800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U)
                                   : x;
}

/// x rounded to bf16, to nearest even; a NaN stays one, and quiet.
inline std::uint16_t bf16_factor(float x) noexcept {
  auto bits = std::bit_cast<std::uint32_t>(without_denormal(x));
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
  }
  bits += 0x7FFFU + (bits >> 16U & 1U);
  return static_cast<std::uint16_t>(bits >> 16U);
}

/// sum + a b for factors that were rounded.
inline float bf16_multiply_add(std::uint16_t a, std::uint16_t b,
                               float sum) noexcept {
  const auto x = std::bit_cast<float>(std::uint32_t{a} << 16U);
  const auto y = std::bit_cast<float>(std::uint32_t{b} << 16U);
  // Exact wherever it is compared: so near to the least normal number, the
  // product's 16 bits and the sum's 24 overlap.
  const double exact = double{x} * double{y} + double{sum};
  if (std::fabs(exact) < 0x1p-126 * (1.0 - 0x1p-25)) {
    return std::copysign(0.0F, static_cast<float>(std::copysign(1.0, exact)));
  }
  return std::fma(x, y, sum);
}

/// sum + the products of one pair of k; of an odd last k, its partners are 0.
inline float bf16_dot(float a_even, float b_even, float a_odd, float b_odd,
                      float sum) noexcept {
  sum = bf16_multiply_add(bf16_factor(a_odd), bf16_factor(b_odd),
                          without_denormal(sum));
  return bf16_multiply_add(bf16_factor(a_even), bf16_factor(b_even), sum);
}

}  // namespace neap::kernels
