// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv_transpose1d.hpp"

#include "neap/ops/conv/conv_rules.hpp"

namespace neap {
namespace ops {
namespace {

Tensor transposed(const Operand& x, const Operand& weight, const Operand* bias,
                  const ConvTransposeOptions<1>& options) {
  const AtSite here(x);
  return conv_backward(
      conv_call("conv_transpose1d", x, weight, bias,
                ConvOptions<1>{options.stride, options.padding,
                               options.dilation, options.groups}),
      {0, options.output_padding[0]});
}

}  // namespace
}  // namespace ops

Tensor conv_transpose1d(const Operand& x, const Operand& weight,
                        const ConvTransposeOptions<1>& options) {
  return ops::transposed(x, weight, nullptr, options);
}

Tensor conv_transpose1d(const Operand& x, const Operand& weight,
                        const Operand& bias,
                        const ConvTransposeOptions<1>& options) {
  return ops::transposed(x, weight, &bias, options);
}

}  // namespace neap
