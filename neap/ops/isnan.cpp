// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/isnan.hpp"

#include "neap/ops/ne.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor isnan(const Operand& x) {
  ops::check_computes("isnan", ops::tensor_of("isnan", x).dtype());
  const ops::AtSite site(x);
  return ne(x, x);
}

}  // namespace neap
