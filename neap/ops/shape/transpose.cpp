// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/transpose.hpp"

#include "neap/ops/shape/permute.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor transpose(const Operand& x, std::int64_t a, std::int64_t b) {
  const int rank = ops::tensor_of("transpose", x).rank();
  Shape order = Shape::filled(rank, 0);
  for (int axis = 0; axis < rank; ++axis) {
    order[axis] = axis;
  }
  std::swap(order[base::normalize_axis("transpose", a, rank)],
            order[base::normalize_axis("transpose", b, rank)]);
  return permute(x, order);
}

}  // namespace neap
