// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/logical_not.hpp"

#include "neap/ops/eq.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor logical_not(const Operand& x) {
  ops::check_dtype("logical_not", ops::tensor_of("logical_not", x).dtype(),
                   boolean);
  return eq(x, 0);
}

}  // namespace neap
