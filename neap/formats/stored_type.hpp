// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Types of elements in files, which are more than those that Neap computes in,
// and the conversion of dense elements from a file's type to a tensor's dtype.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/base/dtype.hpp"

namespace neap::formats {

enum class StoredType : std::uint8_t {
  kF64,
  kF32,
  kF16,  // IEEE half: 5 bits of exponent, 10 of fraction
  kBF16,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,  // a byte, 0 or 1
};

/// Bytes of one element.
NEAP_API int size_of(StoredType type) noexcept;
/// "f16", "i8", ...: what messages say.
NEAP_API std::string_view name_of(StoredType type) noexcept;
/// The smallest dtype that has every value of the type (of u64: i64, which has
/// not).
NEAP_API DType widened(StoredType type) noexcept;
/// True where the type is a dtype, so that elements need no conversion.
NEAP_API bool is_native(StoredType type) noexcept;

/// False where a conversion would lose what the numbers are: to integers from
/// what is none, to bool from anything else.
NEAP_API bool may_convert(StoredType from, DType into) noexcept;

/// Converts as many elements as both hold. Floating results are rounded to
/// nearest even (to bf16 by way of f32); integers keep their value. RETURNS:
/// false where an integer does not fit `type`; its element is then 0.
/// REQUIRES: may_convert(); the same number of elements, without overlap.
NEAP_API bool convert(StoredType from, std::span<const std::byte> elements,
                      DType type, std::span<std::byte> into) noexcept;

}  // namespace neap::formats
