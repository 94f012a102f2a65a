// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/contiguous.hpp"

#include "neap/ops/support.hpp"

namespace neap {

Tensor contiguous(const Operand& x) {
  const Tensor& value = ops::tensor_of("contiguous", x);
  return value.is_contiguous() ? value : copy(x);
}

}  // namespace neap
