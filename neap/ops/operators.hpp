// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Operators over tensors and numbers: a + 2.0, -x, x < y. There is no == and no
// !=: they would give tensors where C++ expects a bool; use eq() and ne().
#pragma once

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"

namespace neap {

inline Tensor operator+(const Operand& a, const Operand& b) {
  return add(a, b);
}
inline Tensor operator-(const Operand& a, const Operand& b) {
  return sub(a, b);
}
inline Tensor operator*(const Operand& a, const Operand& b) {
  return mul(a, b);
}
inline Tensor operator/(const Operand& a, const Operand& b) {
  return div(a, b);
}
inline Tensor operator<(const Operand& a, const Operand& b) {
  return lt(a, b);
}
inline Tensor operator<=(const Operand& a, const Operand& b) {
  return le(a, b);
}
inline Tensor operator>(const Operand& a, const Operand& b) {
  return gt(a, b);
}
inline Tensor operator>=(const Operand& a, const Operand& b) {
  return ge(a, b);
}
inline Tensor operator-(const Operand& x) {
  return neg(x);
}

}  // namespace neap
