// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/stored_type.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace neap::formats {
namespace {

struct Row {
  std::string_view name;
  int size;
  DType widened;
  bool is_native;
};

// In the order of the enumeration.
constexpr std::array kRows = {
    Row{"f64", 8, DType::kF64, true},  Row{"f32", 4, DType::kF32, true},
    Row{"f16", 2, DType::kF32, false}, Row{"bf16", 2, DType::kBF16, true},
    Row{"i64", 8, DType::kI64, true},  Row{"i32", 4, DType::kI32, true},
    Row{"i16", 2, DType::kI32, false}, Row{"i8", 1, DType::kI32, false},
    Row{"u64", 8, DType::kI64, false}, Row{"u32", 4, DType::kI64, false},
    Row{"u16", 2, DType::kI32, false}, Row{"u8", 1, DType::kU8, true},
    Row{"bool", 1, DType::kBool, true}};

const Row& row_of(StoredType type) noexcept {
  return kRows[static_cast<std::size_t>(type)];
}

// --- elements of a file as numbers of C++ ------------------------------------

struct Half {
  std::uint16_t bits;
};

// Exact. A half is a single with another bias of the exponent; those without an
// exponent are whole numbers of 2^-24.
float number_of(Half half) noexcept {
  const std::uint32_t sign = (half.bits & 0x8000U) << 16U;
  const std::uint32_t rest = half.bits & 0x7FFFU;
  const std::uint32_t exponent = rest >> 10U;
  const std::uint32_t shifted = rest << 13U;
  constexpr std::uint32_t kBias = (127U - 15U) << 23U;
  constexpr std::uint32_t kBiasOfInfinity = (255U - 31U) << 23U;
  const auto tiny =
      std::bit_cast<std::uint32_t>(static_cast<float>(rest) * 0x1p-24F);
  const std::uint32_t bits = exponent == 0    ? tiny
                             : exponent == 31 ? shifted + kBiasOfInfinity
                                              : shifted + kBias;
  return std::bit_cast<float>(bits | sign);
}
float number_of(BFloat16 value) noexcept {
  return static_cast<float>(value);
}
std::int32_t number_of(bool value) noexcept {
  return value ? 1 : 0;
}
template <class T>
requires std::is_arithmetic_v<T> T number_of(T value)
noexcept {
  return value;
}

// --- and numbers as elements of a tensor; false: it does not fit -------------

template <class To, class From>
bool put(From value, To& out) noexcept {
  if constexpr (std::is_same_v<To, BFloat16>) {
    out = BFloat16(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<To>) {
    out = static_cast<To>(value);
  } else if constexpr (std::is_same_v<To, bool>) {
    out = value != From{};
  } else if constexpr (std::is_integral_v<From>) {
    const bool fits = std::in_range<To>(value);
    out = fits ? static_cast<To>(value) : To{};
    return fits;
  } else {
    out = To{};  // may_convert() is false
    return false;
  }
  return true;
}

template <class From, class To>
bool convert_all(const std::byte* from, std::size_t count,
                 std::byte* into) noexcept {
  bool fits = true;
  for (std::size_t i = 0; i < count; ++i) {
    From stored;
    std::memcpy(&stored, from + i * sizeof(From), sizeof(From));
    To out;
    fits &= put(number_of(stored), out);
    std::memcpy(into + i * sizeof(To), &out, sizeof(To));
  }
  return fits;
}

template <class From>
bool convert_from(const std::byte* from, std::size_t count, DType type,
                  std::byte* into) noexcept {
  switch (type) {
    case DType::kF64:
      return convert_all<From, double>(from, count, into);
    case DType::kF32:
      return convert_all<From, float>(from, count, into);
    case DType::kBF16:
      return convert_all<From, BFloat16>(from, count, into);
    case DType::kI64:
      return convert_all<From, std::int64_t>(from, count, into);
    case DType::kI32:
      return convert_all<From, std::int32_t>(from, count, into);
    case DType::kU8:
      return convert_all<From, std::uint8_t>(from, count, into);
    case DType::kBool:
      return convert_all<From, bool>(from, count, into);
  }
  return false;
}

}  // namespace

int size_of(StoredType type) noexcept {
  return row_of(type).size;
}

std::string_view name_of(StoredType type) noexcept {
  return row_of(type).name;
}

DType widened(StoredType type) noexcept {
  return row_of(type).widened;
}

bool is_native(StoredType type) noexcept {
  return row_of(type).is_native;
}

bool may_convert(StoredType from, DType into) noexcept {
  const DType wide = widened(from);
  return into == wide || is_floating(into) ||
         (!is_floating(wide) && into != DType::kBool);
}

bool convert(StoredType from, std::span<const std::byte> elements, DType type,
             std::span<std::byte> into) noexcept {
  const std::byte* data = elements.data();
  const std::size_t count =
      elements.size() / static_cast<std::size_t>(size_of(from));
  switch (from) {
    case StoredType::kF64:
      return convert_from<double>(data, count, type, into.data());
    case StoredType::kF32:
      return convert_from<float>(data, count, type, into.data());
    case StoredType::kF16:
      return convert_from<Half>(data, count, type, into.data());
    case StoredType::kBF16:
      return convert_from<BFloat16>(data, count, type, into.data());
    case StoredType::kI64:
      return convert_from<std::int64_t>(data, count, type, into.data());
    case StoredType::kI32:
      return convert_from<std::int32_t>(data, count, type, into.data());
    case StoredType::kI16:
      return convert_from<std::int16_t>(data, count, type, into.data());
    case StoredType::kI8:
      return convert_from<std::int8_t>(data, count, type, into.data());
    case StoredType::kU64:
      return convert_from<std::uint64_t>(data, count, type, into.data());
    case StoredType::kU32:
      return convert_from<std::uint32_t>(data, count, type, into.data());
    case StoredType::kU16:
      return convert_from<std::uint16_t>(data, count, type, into.data());
    case StoredType::kU8:
      return convert_from<std::uint8_t>(data, count, type, into.data());
    case StoredType::kBool:
      return convert_from<bool>(data, count, type, into.data());
  }
  return false;
}

}  // namespace neap::formats
