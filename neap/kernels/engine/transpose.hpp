// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A matrix copied to its transpose, by tiles: whole lines of x go to a buffer
// that the innermost cache holds, and whole lines of y come from it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neap::kernels {

/// y[i y_stride + j] = x[i + j x_stride], strides in elements.
struct Transposition {
  const std::byte* x = nullptr;
  std::byte* y = nullptr;
  std::int64_t x_stride = 0;
  std::int64_t y_stride = 0;
  std::int64_t rows = 0;     // of y
  std::int64_t columns = 0;  // of y
};

/// Elements along each side of a tile, for elements of `size` bytes: 16 KiB at
/// most, in lines of 128 to 256 bytes.
constexpr std::int64_t tile_side(std::int64_t size) noexcept {
  return size == 1 ? 128 : size == 8 ? 32 : 64;
}

/// For elements of 1, 2, 4 or 8 bytes.
void transpose_tiles(const Transposition& call, int size) noexcept;

}  // namespace neap::kernels
