// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Operand: how an op's public function takes an argument. It converts from a
// tensor or a plain number, notes the call site, and knows whether it was given
// a temporary (which the op may take over when nothing else needs it).
#pragma once

#include <concepts>

#include "neap/tensor/tensor.hpp"

namespace neap {

namespace graph {
/// A number as ops take it. THROWS: ValueError for an integer (beyond 2^53)
/// that no double is.
NEAP_API double exact_number(std::int64_t number, const CallSite& site);
NEAP_API double exact_number(std::uint64_t number, const CallSite& site);
}  // namespace graph

class Operand {
 public:
  // Implicit on purpose: add(x, 2.0), x + y.
  // NOLINTBEGIN(google-explicit-constructor)
  Operand(const Tensor& tensor, CallSite site = CallSite::here()) noexcept
      : tensor_(&tensor), site_(site) {}
  Operand(Tensor& tensor, CallSite site = CallSite::here()) noexcept
      : tensor_(&tensor), site_(site) {}
  Operand(Tensor&& tensor, CallSite site = CallSite::here()) noexcept
      : tensor_(&tensor), temporary_(&tensor), site_(site) {}
  /// THROWS: as graph::exact_number().
  template <class Number>
  requires std::is_arithmetic_v<Number> Operand(
      Number number, CallSite site = CallSite::here())
      : number_(double_of(number, site)), site_(site) {}
  // NOLINTEND(google-explicit-constructor)

  bool is_number() const noexcept { return tensor_ == nullptr; }
  double number() const noexcept { return number_; }
  /// REQUIRES: !is_number().
  const Tensor& tensor() const noexcept { return *tensor_; }
  /// The tensor again when it was given as an rvalue, else nullptr.
  Tensor* temporary() const noexcept { return temporary_; }
  const CallSite& site() const noexcept { return site_; }

 private:
  template <class Number>
  static double double_of(Number number, const CallSite& site) {
    if constexpr (std::is_integral_v<Number> && sizeof(Number) == 8) {
      using Wide = std::conditional_t<std::is_signed_v<Number>, std::int64_t,
                                      std::uint64_t>;
      return graph::exact_number(static_cast<Wide>(number), site);
    } else {
      return static_cast<double>(number);
    }
  }

  const Tensor* tensor_ = nullptr;
  Tensor* temporary_ = nullptr;
  double number_ = 0.0;
  CallSite site_;
};

}  // namespace neap
