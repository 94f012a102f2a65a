// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Element types. There is no promotion: an op takes operands of one dtype (a
// plain C++ number adapts to the tensor beside it), and `cast` converts.
#pragma once

#include <bit>
#include <cstdint>
#include <iosfwd>
#include <string_view>

#include "neap/base/api.hpp"

namespace neap {

enum class DType : std::uint8_t { kF32, kF64, kBF16, kI32, kI64, kU8, kBool };

inline constexpr int kDTypeCount = 7;

// Short names for everyday use: zeros({2, 3}, f64).
inline constexpr DType f32 = DType::kF32;
inline constexpr DType f64 = DType::kF64;
inline constexpr DType bf16 = DType::kBF16;
inline constexpr DType i32 = DType::kI32;
inline constexpr DType i64 = DType::kI64;
inline constexpr DType u8 = DType::kU8;
inline constexpr DType boolean = DType::kBool;

/// The upper half of an IEEE single: 8 bits of exponent, 7 of fraction.
/// Conversion from float rounds to nearest even; NaN stays NaN (quiet).
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) noexcept {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (wide & 0x7FFFFFFFU) > 0x7F800000U;
    const std::uint32_t rounded = wide + 0x7FFFU + ((wide >> 16U) & 1U);
    bits = static_cast<std::uint16_t>(is_nan ? (wide >> 16U) | 0x40U
                                             : rounded >> 16U);
  }
  explicit operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
};

/// Bytes of one element.
constexpr int size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64:
      return 8;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kBF16:
      return 2;
    case DType::kU8:
    case DType::kBool:
      return 1;
  }
  return 0;
}

/// True for f32, f64 and bf16, the dtypes that can carry derivatives.
constexpr bool is_floating(DType dtype) noexcept {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16;
}

/// "f32", "bool", ...
NEAP_API std::string_view name_of(DType dtype) noexcept;
NEAP_API std::ostream& operator<<(std::ostream& out, DType dtype);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kF64;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBF16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::kI32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::kI64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::kU8;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};

/// The dtype that stores a C++ element type.
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace neap
