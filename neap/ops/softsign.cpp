// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/softsign.hpp"

#include "neap/ops/abs.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor softsign(const Operand& x) {
  const ops::AtSite here(x);
  const Tensor& value = ops::tensor_of("softsign", x);
  return div(value, add(abs(value), 1));
}

}  // namespace neap
