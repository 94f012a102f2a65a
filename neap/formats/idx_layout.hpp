// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by reading and writing IDX: type codes and byte order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "neap/base/dtype.hpp"

namespace neap::formats {

struct IdxCode {
  std::uint8_t code;
  DType dtype;
};
inline constexpr std::array<IdxCode, 4> kIdxCodes{{{0x08, DType::kU8},
                                                   {0x0C, DType::kI32},
                                                   {0x0D, DType::kF32},
                                                   {0x0E, DType::kF64}}};

inline constexpr std::size_t kIdxExtentBytes = 4;
inline constexpr std::size_t kIdxMagicBytes = 4;

// Between big-endian and the host's order, either way.
inline void reorder(std::span<std::byte> elements, int element_bytes) noexcept {
  if constexpr (std::endian::native == std::endian::big) {
    return;
  }
  const auto step = static_cast<std::size_t>(element_bytes);
  if (step == 1) {
    return;
  }
  for (std::size_t at = 0; at + step <= elements.size(); at += step) {
    std::reverse(&elements[at], &elements[at] + step);
  }
}

}  // namespace neap::formats
