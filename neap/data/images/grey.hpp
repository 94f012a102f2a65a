// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The grey of a coloured pixel, as ITU-R BT.601 weighs the channels, in 16-bit
// fixed point: what PIL's mode L has, too. Of this room alone.
#pragma once

#include <cstdint>

namespace neap::data::images {

/// Grey of red, green and blue at `rgb`, rounded down from half a step above.
constexpr std::uint8_t grey_of(const std::uint8_t* rgb) noexcept {
  constexpr std::uint32_t kRed = 19595;  // 0.299, 0.587 and 0.114 of 2^16
  constexpr std::uint32_t kGreen = 38470;
  constexpr std::uint32_t kBlue = 7471;
  constexpr std::uint32_t kHalf = 0x8000;
  return static_cast<std::uint8_t>(
      (kRed * rgb[0] + kGreen * rgb[1] + kBlue * rgb[2] + kHalf) >> 16U);
}

}  // namespace neap::data::images
