// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Operand: an argument of an op's public function. It converts from a tensor or
// a plain number, notes the call site, and knows whether it was given a
// temporary (which the op may take over when nothing else needs it). An op of
// one tensor takes a TensorOperand, which is never a number.
#pragma once

#include <utility>

#include "neap/tensor/number.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap {

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
  /// THROWS: as tensor::to_double().
  template <tensor::PlainNumber T>
  Operand(T number, CallSite site = CallSite::here())
      : number_(tensor::to_double(number, site)), site_(site) {}
  // NOLINTEND(google-explicit-constructor)

  bool is_number() const noexcept { return tensor_ == nullptr; }
  double number() const noexcept { return number_; }
  /// REQUIRES: !is_number().
  const Tensor& tensor() const noexcept { return *tensor_; }
  /// The tensor when it was given as an rvalue, else nullptr.
  Tensor* temporary() const noexcept { return temporary_; }
  const CallSite& site() const noexcept { return site_; }

 private:
  const Tensor* tensor_ = nullptr;
  Tensor* temporary_ = nullptr;
  double number_ = 0.0;
  CallSite site_;
};

/// exp(2.0) does not compile: a number's exponential is std::exp's business.
class TensorOperand : public Operand {
 public:
  // Implicit on purpose: exp(x).
  // NOLINTBEGIN(google-explicit-constructor)
  TensorOperand(const Tensor& tensor, CallSite site = CallSite::here()) noexcept
      : Operand(tensor, site) {}
  TensorOperand(Tensor& tensor, CallSite site = CallSite::here()) noexcept
      : Operand(tensor, site) {}
  TensorOperand(Tensor&& tensor, CallSite site = CallSite::here()) noexcept
      : Operand(std::move(tensor), site) {}
  /// Passes on the operand that a rule is given; the op refuses a number.
  TensorOperand(const Operand& operand) noexcept : Operand(operand) {}
  template <tensor::PlainNumber T>
  TensorOperand(T number) = delete;
  // NOLINTEND(google-explicit-constructor)
};

}  // namespace neap
