// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/softmax.hpp"

#include "neap/ops/exp.hpp"
#include "neap/ops/log_softmax.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor softmax(const Operand& x, std::int64_t axis) {
  const ops::AtSite here(x);
  return exp(log_softmax(x, axis));
}

}  // namespace neap
