// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv1d.hpp"

#include "neap/ops/conv/conv_rules.hpp"

namespace neap {

Tensor conv1d(const Operand& x, const Operand& weight,
              const ConvOptions<1>& options) {
  const ops::AtSite here(x);
  return ops::conv_forward(
      ops::conv_call("conv1d", x, weight, nullptr, options));
}

Tensor conv1d(const Operand& x, const Operand& weight, const Operand& bias,
              const ConvOptions<1>& options) {
  const ops::AtSite here(x);
  return ops::conv_forward(ops::conv_call("conv1d", x, weight, &bias, options));
}

}  // namespace neap
