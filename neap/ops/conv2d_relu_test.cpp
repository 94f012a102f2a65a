// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv2d_relu.hpp"

#include "neap/ops/conv_test.hpp"

namespace neap::testing {
namespace {

// Padded by one, 3 x 3.
Tensor call_of(const Tensor& x, const Tensor& w, const Tensor& bias) {
  const Shape& s = x.shape();
  kernels::ConvAttrs attrs{.padding = {1, 1},
                           .x_extent = {s[2], s[3]},
                           .kernel = {3, 3},
                           .y_extent = {s[2], s[3]}};
  return ops::conv2d_relu(x, w, bias, attrs);
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

OpTable conv2d_relu_table() {
  // No sum is near the kink: each has a bias that outweighs it.
  const OpRow row{.name = "with bias",
                  .fn = [](Inputs in) { return call_of(in[0], in[1], in[2]); },
                  .inputs = {uniform({2, 2, 3, 4}, -0.1, 0.1),
                             uniform({3, 2, 3, 3}, -0.1, 0.1),
                             literal({3}, {0.7, -0.6, 0.5})},
                  .reference = rectified(conv_reference_of(2, {.padding = 1})),
                  .zero_size = {{{0, 2, 3, 4}, {3, 2, 3, 3}, {3}}}};
  OpRow plain = row;
  plain.name = "without bias";
  plain.zero_size = {};
  plain.fn = [](Inputs in) { return call_of(in[0], in[1], {}); };
  plain.inputs = {uniform({2, 2, 3, 4}, 0.1, 1), uniform({3, 2, 3, 3}, 0.1, 1)};
  return {.name = "conv2d_relu", .op = &ops::kConv2dRelu, .rows = {row, plain}};
}

const Listed kListed(conv2d_relu_table);

}  // namespace
}  // namespace neap::testing
