// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/masked_fill.hpp"

#include "neap/ops/elementwise/where.hpp"

namespace neap {

Tensor masked_fill(const Operand& x, const Operand& mask,
                   const Operand& value) {
  return where(mask, value, x);
}

}  // namespace neap
