// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Vector loops that write or read one bit an element, compiled once per
// instruction set. A group is a whole vector and whole bytes of bits; the tail
// runs the same code on padded copies.
#if defined(NEAP_KERNELS_BITS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_BITS_INL_HPP_
#undef NEAP_KERNELS_BITS_INL_HPP_
#else
#define NEAP_KERNELS_BITS_INL_HPP_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "neap/kernels/engine/bits.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr std::size_t kBitLanes = hn::MaxLanes(hn::ScalableTag<T>());
/// Elements of a group.
template <class T>
inline constexpr std::size_t kBitGroup = HWY_MAX(kBitLanes<T>, std::size_t{8});

/// Masks of the group's vectors as bytes. Highway wants room for 8 bytes.
template <class T, class Make>
HWY_INLINE void store_bits(const Make& mask_of, std::uint8_t* bits) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN std::uint8_t room[8];
  if constexpr (kBitLanes<T> >= 8) {
    hn::StoreMaskBits(d, mask_of(0), room);
    std::memcpy(bits, room, kBitGroup<T> / 8);
  } else {
    unsigned byte = 0;
    for (std::size_t at = 0; at < 8; at += kBitLanes<T>) {
      hn::StoreMaskBits(d, mask_of(at), room);
      byte |= static_cast<unsigned>(room[0]) << at;
    }
    *bits = static_cast<std::uint8_t>(byte);
  }
}

/// The mask of the vector that begins `at` elements into the group.
template <class D>
HWY_INLINE auto load_bits(D d, const std::uint8_t* bits, std::size_t at) {
  using T = hn::TFromD<D>;
  HWY_ALIGN std::uint8_t room[8] = {};
  if constexpr (kBitLanes<T> >= 8) {
    std::memcpy(room, bits, kBitGroup<T> / 8);
  } else {
    room[0] = static_cast<std::uint8_t>(*bits >> at);
  }
  return hn::LoadMaskBits(d, room);
}

/// y = op.map(d, x), bits = op.test(d, x), of one group; y may be x.
template <class T, class Op>
HWY_INLINE void write_group(const Op& op, const T* x, T* y,
                            std::uint8_t* bits) {
  const hn::ScalableTag<T> d;
  const auto one = [&](std::size_t at) HWY_ATTR {
    const auto v = hn::LoadU(d, x + at);
    hn::StoreU(op.map(d, v), d, y + at);
    return op.test(d, v);
  };
  store_bits<T>(one, bits);
}

/// y = op(d, x, mask), of one group; y may be x.
template <class T, class Op>
HWY_INLINE void read_group(const Op& op, const T* x, T* y,
                           const std::uint8_t* bits) {
  const hn::ScalableTag<T> d;
  for (std::size_t at = 0; at < kBitGroup<T>; at += kBitLanes<T>) {
    hn::StoreU(op(d, hn::LoadU(d, x + at), load_bits(d, bits, at)), d, y + at);
  }
}

template <class T, class Op>
HWY_INLINE void write_bits(const Op& op, const BitsPiece& piece) {
  constexpr std::size_t kGroup = kBitGroup<T>;
  const T* x = reinterpret_cast<const T*>(piece.in);
  T* y = reinterpret_cast<T*>(piece.out);
  const auto count = static_cast<std::size_t>(piece.count);
  std::size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    write_group(op, x + i, y + i, piece.bits + i / 8);
  }
  if (const std::size_t rest = count - i; rest != 0) {
    HWY_ALIGN T padded[kGroup] = {};
    HWY_ALIGN std::uint8_t bits[8] = {};
    std::memcpy(padded, x + i, rest * sizeof(T));
    write_group(op, padded, padded, bits);
    std::memcpy(y + i, padded, rest * sizeof(T));
    for (std::size_t k = 0; k < rest; k += 8) {
      const auto valid = HWY_MIN(rest - k, std::size_t{8});
      piece.bits[(i + k) / 8] =
          static_cast<std::uint8_t>(bits[k / 8] & ((1U << valid) - 1U));
    }
  }
}

template <class T, class Op>
HWY_INLINE void read_bits(const Op& op, const BitsPiece& piece) {
  constexpr std::size_t kGroup = kBitGroup<T>;
  const T* x = reinterpret_cast<const T*>(piece.in);
  T* y = reinterpret_cast<T*>(piece.out);
  const auto count = static_cast<std::size_t>(piece.count);
  std::size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    read_group(op, x + i, y + i, piece.bits + i / 8);
  }
  if (const std::size_t rest = count - i; rest != 0) {
    HWY_ALIGN T padded[kGroup] = {};
    HWY_ALIGN std::uint8_t bits[8] = {};
    std::memcpy(padded, x + i, rest * sizeof(T));
    std::memcpy(bits, piece.bits + i / 8, (rest + 7) / 8);
    read_group(op, padded, padded, bits);
    std::memcpy(y + i, padded, rest * sizeof(T));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
