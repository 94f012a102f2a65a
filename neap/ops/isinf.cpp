// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/isinf.hpp"

#include <limits>

#include "neap/ops/abs.hpp"
#include "neap/ops/eq.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

Tensor isinf(const Operand& x) {
  ops::check_computes("isinf", ops::tensor_of("isinf", x).dtype());
  const ops::AtSite site(x);
  return eq(abs(x), kInfinity);
}

}  // namespace neap
