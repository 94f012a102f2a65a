// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Operators over tensors and numbers: a + 2.0, -x, x < y. There is no == and no
// !=: they would give tensors where C++ expects a bool; use eq() and ne().
#pragma once

#include "neap/ops/add.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/ge.hpp"
#include "neap/ops/gt.hpp"
#include "neap/ops/le.hpp"
#include "neap/ops/lt.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/sub.hpp"

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
