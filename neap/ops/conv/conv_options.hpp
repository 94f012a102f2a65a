// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Options of conv1d, conv2d and their transposes.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

namespace neap {

/// A number for each spatial axis, or one for all of them: `2`, `{2, 1}`.
template <int kAxes>
class PerAxis {
 public:
  // Implicit on purpose: 2 is {2, 2}.
  // NOLINTBEGIN(google-explicit-constructor)
  constexpr PerAxis(std::int64_t all) noexcept { values_.fill(all); }
  template <std::convertible_to<std::int64_t>... Rest>
  requires(sizeof...(Rest) + 1 == kAxes &&
           kAxes > 1) constexpr PerAxis(std::int64_t first,
                                        Rest... rest) noexcept
      : values_{first, static_cast<std::int64_t>(rest)...} {}
  // NOLINTEND(google-explicit-constructor)

  constexpr std::int64_t operator[](int axis) const noexcept {
    return values_[static_cast<std::size_t>(axis)];
  }

 private:
  std::array<std::int64_t, kAxes> values_{};
};

/// conv1d, conv2d.
template <int kAxes>
struct ConvOptions {
  PerAxis<kAxes> stride = 1;
  PerAxis<kAxes> padding = 0;  // zeros on both sides of an axis
  PerAxis<kAxes> dilation = 1;
  std::int64_t groups = 1;  // number of groups of channels, each by itself
};

/// conv_transpose1d, conv_transpose2d.
template <int kAxes>
struct ConvTransposeOptions {
  PerAxis<kAxes> stride = 1;
  PerAxis<kAxes> padding = 0;         // removed on both sides of the result
  PerAxis<kAxes> output_padding = 0;  // more at the end of each axis
  PerAxis<kAxes> dilation = 1;
  std::int64_t groups = 1;
};

}  // namespace neap
