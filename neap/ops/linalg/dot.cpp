// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/dot.hpp"

#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor dot(const Operand& a, const Operand& b) {
  const Shape& left = ops::tensor_of("dot", a).shape();
  const Shape& right = ops::tensor_of("dot", b).shape();
  if (left.rank() != 1 || left != right) {
    base::raise<ShapeError>(
        "dot: {} and {}, expected two vectors of one length",
        format_shape(left), format_shape(right));
  }
  return matmul(a, b);
}

}  // namespace neap
