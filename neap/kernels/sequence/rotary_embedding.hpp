// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// rotary_embedding: pair j of row i turned by the angle p_i base^(-2 j / d),
// p_i the row's position. f32, f64.
//   in[0]  x          (..., T, D)  any strides, D even
//   in[1]  positions  (T)          i64, any stride; or left out: first + i
//   out[0] y          (..., T, D)  any strides, may be x
// Pair j is (x[j], x[D / 2 + j]), or where `interleaved` (x[2 j], x[2 j + 1]).
// Angles, sines and cosines are computed in f64 and rounded once. With a
// scaling the rate base^(-2 j / d) of pair j is another one: rotary_rate().
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// The scalings of rates, by which a model sees more positions than it was
/// trained on. What low and high are is said at rotary_rate().
enum class RotaryRates : std::uint8_t { kPlain, kRamp, kWavelengths };

struct RotaryAttrs {
  double base = 10000.0;  // above 0
  double factor = 1.0;    // above 0
  double low = 0.0;
  double high = 0.0;
  std::int64_t first = 0;
  bool interleaved = false;
  bool inverse = false;  // turns back
  RotaryRates rates = RotaryRates::kPlain;
  std::array<bool, 5> padding{};
};

/// The rate of pair j of `pairs`, r = base^(-j / pairs) where plain:
///
///   ramp         by j: r up to low, r / factor from high on
///   wavelengths  by 2 pi / r: r up to high, r / factor from low on
///
/// and between the two limits a mean of both, whose weights change evenly with
/// j (YaRN, arXiv 2309.00071), or with 1 / wavelength (Llama 3.1).
inline double rotary_rate(const RotaryAttrs& attrs, std::int64_t j,
                          std::int64_t pairs) noexcept {
  const double rate = std::pow(
      attrs.base, -static_cast<double>(j) / static_cast<double>(pairs));
  double scaled = 0.0;  // the part of r / factor
  switch (attrs.rates) {
    case RotaryRates::kPlain:
      return rate;
    case RotaryRates::kRamp:
      scaled = std::clamp(
          (static_cast<double>(j) - attrs.low) / (attrs.high - attrs.low), 0.0,
          1.0);
      break;
    case RotaryRates::kWavelengths: {
      const double turns = rate / (2.0 * std::numbers::pi);  // 1 / wavelength
      scaled = std::clamp(
          (1.0 / attrs.high - turns) / (1.0 / attrs.high - 1.0 / attrs.low),
          0.0, 1.0);
      break;
    }
  }
  return rate * (scaled / attrs.factor + (1.0 - scaled));
}

extern const KernelList rotary_embedding_kernels;

}  // namespace neap::kernels
