// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/mean.hpp"

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor mean(const Operand& x) {
  const ops::AtSite here(x);
  const double count =
      static_cast<double>(ops::tensor_of("mean", x).element_count());
  return div(sum(x), count);
}

Tensor mean(const Operand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  const Shape shape = ops::tensor_of("mean", x).shape();
  const std::uint64_t mask = ops::axes_mask("mean", axes, shape.rank());
  double count = 1.0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    count *= ops::has_axis(mask, axis) ? static_cast<double>(shape[axis]) : 1.0;
  }
  return div(sum(x, axes, keepdim), count);
}

}  // namespace neap
