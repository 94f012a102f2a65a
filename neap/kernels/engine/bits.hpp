// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Masks of one bit an element, for residuals: element i, counted row-major, has
// bit i mod 8 of byte i / 8; the last byte's further bits are 0. This engine
// cuts one input, one output and the bits into pieces that are dense in all
// three; threads and pieces divide at whole bytes.
#pragma once

#include <cstdint>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// Bytes of the bits of so many elements.
constexpr std::int64_t bit_bytes(std::int64_t elements) noexcept {
  return elements / 8 + (elements % 8 != 0 ? 1 : 0);
}

/// `count` elements of input and output, dense, and their bits.
struct BitsPiece {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint8_t* bits = nullptr;
  std::int64_t count = 0;
  const void* attrs = nullptr;
};

using BitsFunction = void (*)(const BitsPiece&) noexcept;

enum class BitsUse : std::uint8_t { kReads, kWrites };

/// Calls `function` for pieces that cover in[0] -> out[0], of one shape, once.
/// The bits are in[1] where they are read, out[1] where they are written; of
/// rank 1, any strides.
void run_with_bits(const Args& args, BitsUse use,
                   BitsFunction function) noexcept;

}  // namespace neap::kernels
