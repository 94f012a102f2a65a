// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Number: how functions take a plain number beside tensors. All numbers are
// doubles inside; an integer that no double is has no rounded stand-in.
#pragma once

#include <cstdint>
#include <type_traits>

#include "neap/base/api.hpp"
#include "neap/base/call_site.hpp"

namespace neap {

namespace tensor {

/// The types of plain numbers; not the compiler's wider integers.
template <class T>
concept PlainNumber = std::is_arithmetic_v<T> &&
    (std::is_floating_point_v<T> || sizeof(T) <= 8);

/// False for an integer (beyond 2^53) that no double is.
template <PlainNumber T>
constexpr bool is_double(T number) noexcept {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    constexpr double kEnd = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
    const auto rounded = static_cast<double>(number);
    return rounded < kEnd && static_cast<T>(rounded) == number;
  } else {
    return true;
  }
}

/// THROWS: ValueError, naming the number and the site.
[[noreturn]] NEAP_API void refuse_number(std::int64_t number,
                                         const CallSite& site);
[[noreturn]] NEAP_API void refuse_number(std::uint64_t number,
                                         const CallSite& site);

/// THROWS: ValueError unless is_double(number).
template <PlainNumber T>
double to_double(T number, const CallSite& site) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    using Wide =
        std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    if (!is_double(number)) {
      refuse_number(static_cast<Wide>(number), site);
    }
  }
  return static_cast<double>(number);
}

}  // namespace tensor

class Number {
 public:
  /// Implicit on purpose: full({2}, 1). THROWS: as tensor::to_double().
  // NOLINTBEGIN(google-explicit-constructor)
  template <tensor::PlainNumber T>
  Number(T number, CallSite site = CallSite::here())
      : value_(tensor::to_double(number, site)) {}
  // NOLINTEND(google-explicit-constructor)

  double value() const noexcept { return value_; }

 private:
  double value_;
};

}  // namespace neap
