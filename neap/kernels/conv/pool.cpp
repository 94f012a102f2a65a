// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv/pool.hpp"

#include <algorithm>
#include <cstring>

namespace neap::kernels {
namespace {

// Eight codes, one a byte, to 8 kBits bits.
template <int kBits>
std::uint64_t pack_eight(std::uint64_t x) noexcept {
  if constexpr (kBits == 1) {
    return x * 0x0102040810204080U >> 56U;
  } else if constexpr (kBits == 2) {
    x = (x | x >> 6U) & 0x000F000F000F000FU;
    x = (x | x >> 12U) & 0x000000FF000000FFU;
    return (x | x >> 24U) & 0xFFFFU;
  } else {
    x = (x | x >> 4U) & 0x00FF00FF00FF00FFU;
    x = (x | x >> 8U) & 0x0000FFFF0000FFFFU;
    return (x | x >> 16U) & 0xFFFFFFFFU;
  }
}

template <int kBits>
std::uint64_t unpack_eight(std::uint64_t x) noexcept {
  if constexpr (kBits == 1) {
    x = x * 0x0101010101010101U & 0x8040201008040201U;
    return (x + 0x7F7F7F7F7F7F7F7FU) >> 7U & 0x0101010101010101U;
  } else if constexpr (kBits == 2) {
    x = (x | x << 24U) & 0x000000FF000000FFU;
    x = (x | x << 12U) & 0x000F000F000F000FU;
    return (x | x << 6U) & 0x0303030303030303U;
  } else {
    x = (x | x << 16U) & 0x0000FFFF0000FFFFU;
    x = (x | x << 8U) & 0x00FF00FF00FF00FFU;
    return (x | x << 4U) & 0x0F0F0F0F0F0F0F0FU;
  }
}

template <int kBits>
void pack(const std::uint8_t* codes, std::int64_t count,
          std::byte* packed) noexcept {
  for (std::int64_t i = 0; i < count; i += 8) {
    const std::int64_t rest = std::min<std::int64_t>(count - i, 8);
    std::uint64_t word = 0;
    std::memcpy(&word, codes + i, static_cast<std::size_t>(rest));
    word = pack_eight<kBits>(word);
    std::memcpy(packed + i * kBits / 8, &word,
                static_cast<std::size_t>((rest * kBits + 7) / 8));
  }
}

template <int kBits>
void unpack(const std::byte* packed, std::int64_t count,
            std::uint8_t* codes) noexcept {
  for (std::int64_t i = 0; i < count; i += 8) {
    const std::int64_t rest = std::min<std::int64_t>(count - i, 8);
    std::uint64_t word = 0;
    std::memcpy(&word, packed + i * kBits / 8,
                static_cast<std::size_t>((rest * kBits + 7) / 8));
    word = unpack_eight<kBits>(word);
    std::memcpy(codes + i, &word, 8);
  }
}

}  // namespace

void pack_codes(const std::uint8_t* codes, std::int64_t count,
                std::int64_t bits, std::byte* packed) noexcept {
  switch (bits) {
    case 1:
      return pack<1>(codes, count, packed);
    case 2:
      return pack<2>(codes, count, packed);
    case 4:
      return pack<4>(codes, count, packed);
    default:
      std::copy_n(reinterpret_cast<const std::byte*>(codes), count, packed);
  }
}

void unpack_codes(const std::byte* packed, std::int64_t count,
                  std::int64_t bits, std::uint8_t* codes) noexcept {
  switch (bits) {
    case 1:
      return unpack<1>(packed, count, codes);
    case 2:
      return unpack<2>(packed, count, codes);
    case 4:
      return unpack<4>(packed, count, codes);
    default:
      std::copy_n(packed, count, reinterpret_cast<std::byte*>(codes));
  }
}

}  // namespace neap::kernels
