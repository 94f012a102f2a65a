// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sizes in bytes: signed, checked, and printed exactly.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>

#include "neap/base/api.hpp"
#include "neap/base/error.hpp"

namespace neap {

using Bytes = std::int64_t;

inline constexpr Bytes kKiB = 1024;
inline constexpr Bytes kMiB = 1024 * kKiB;
inline constexpr Bytes kGiB = 1024 * kMiB;
inline constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();

/// "13.4 MiB (14 051 328 B)"; below 1 KiB plainly "640 B".
NEAP_API std::string format_bytes(Bytes bytes);

/// "14 051 328": digits in groups of three.
NEAP_API std::string format_grouped(std::int64_t value);

/// "13.4 MiB" alone, for columns and progress lines.
NEAP_API std::string format_bytes_short(Bytes bytes);

/// A size that prints as format_bytes does: out << ByteCount(n).
class ByteCount {
 public:
  explicit constexpr ByteCount(Bytes bytes) noexcept : bytes_(bytes) {}
  constexpr Bytes bytes() const noexcept { return bytes_; }

 private:
  Bytes bytes_;
};
NEAP_API std::ostream& operator<<(std::ostream& out, ByteCount count);

namespace base {

/// a * b, or ShapeError when it does not fit 64 bits.
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw ShapeError("size: a product of sizes does not fit 64 bits");
  }
  return product;
}

/// a + b, or ShapeError when it does not fit 64 bits.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw ShapeError("size: a sum of sizes does not fit 64 bits");
  }
  return sum;
}

/// Smallest multiple of `unit` (a power of two) that is at least `bytes`.
constexpr Bytes round_up(Bytes bytes, Bytes unit) noexcept {
  return (bytes + unit - 1) & ~(unit - 1);
}

}  // namespace base
}  // namespace neap
