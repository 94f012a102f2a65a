// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/isfinite.hpp"

#include <limits>

#include "neap/ops/abs.hpp"
#include "neap/ops/lt.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

Tensor isfinite(const Operand& x) {
  ops::check_computes("isfinite", ops::tensor_of("isfinite", x).dtype());
  const ops::AtSite site(x);
  return lt(abs(x), kInfinity);
}

}  // namespace neap
