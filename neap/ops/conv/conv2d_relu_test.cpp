// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv2d_relu.hpp"

#include "neap/kernels/conv/conv.hpp"
#include "neap/ops/conv/conv_test.hpp"

namespace neap::testing {
namespace {

using Call = Tensor (*)(const Operand& x, const Operand& w, const Tensor& bias,
                        const kernels::ConvAttrs& attrs);

// Padded by one, 3 x 3.
kernels::ConvAttrs attrs_of(const Tensor& x) {
  const Shape& s = x.shape();
  return {.padding = {1, 1},
          .x_extent = {s[2], s[3]},
          .kernel = {3, 3},
          .y_extent = {s[2], s[3]}};
}

Reference rectified(const Reference& conv) {
  return [conv](std::span<const HostArray> inputs) {
    std::vector<double> y = conv(inputs);
    for (double& value : y) {
      value = std::max(value, 0.0);
    }
    return y;
  };
}

OpTable table_of(const char* name, const graph::Op& op, Call call) {
  // No sum is near the kink: each has a bias that outweighs it.
  const OpRow row{.name = "with bias",
                  .fn =
                      [call](Inputs in) {
                        return call(in[0], in[1], in[2], attrs_of(in[0]));
                      },
                  .inputs = {uniform({2, 2, 3, 4}, -0.1, 0.1),
                             uniform({3, 2, 3, 3}, -0.1, 0.1),
                             literal({3}, {0.7, -0.6, 0.5})},
                  .reference = rectified(conv_reference_of(2, {.padding = 1})),
                  .zero_size = {{{0, 2, 3, 4}, {3, 2, 3, 3}, {3}}}};
  OpRow plain = row;
  plain.name = "without bias";
  plain.zero_size = {};
  plain.fn = [call](Inputs in) {
    return call(in[0], in[1], {}, attrs_of(in[0]));
  };
  plain.inputs = {uniform({2, 2, 3, 4}, 0.1, 1), uniform({3, 2, 3, 3}, 0.1, 1)};
  return {.name = name, .op = &op, .rows = {row, plain}};
}

OpTable conv2d_relu_table() {
  return table_of("conv2d_relu", ops::kConv2dRelu, ops::conv2d_relu);
}

OpTable conv2d_relu_bits_table() {
  return table_of("conv2d_relu_bits", ops::kConv2dReluBits,
                  ops::conv2d_relu_bits);
}

const Listed kListed(conv2d_relu_table);
const Listed kListedBits(conv2d_relu_bits_table);

}  // namespace
}  // namespace neap::testing
