// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/outer.hpp"

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/shape/squeeze.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor outer(const Operand& a, const Operand& b) {
  const Shape& left = ops::tensor_of("outer", a).shape();
  const Shape& right = ops::tensor_of("outer", b).shape();
  if (left.rank() != 1 || right.rank() != 1) {
    base::raise<ShapeError>("outer: {} and {}, expected two vectors",
                            format_shape(left), format_shape(right));
  }
  const ops::AtSite here(a);
  return mul(unsqueeze(a, 1), b);
}

}  // namespace neap
