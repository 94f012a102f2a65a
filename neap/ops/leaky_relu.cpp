// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/leaky_relu.hpp"

#include "neap/kernels/activation_attrs.hpp"
#include "neap/kernels/relu.hpp"
#include "neap/ops/gt.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/relu.hpp"
#include "neap/ops/relu_bits.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/where.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::SlopeAttrs;

Tensor gated(const Tensor& x, const Tensor& d, double slope) {
  return where(gt(x, 0), d, mul(d, slope));
}

}  // namespace

// The form for calls that nothing records; leaky_relu() takes relu_bits for
// others. Its rules are for tangents, and for recorders that record it all the
// same.
const Op kLeakyRelu{
    .name = "leaky_relu",
    .formula =
        "y = x > 0 ? x : slope x, dy/dx = slope at 0; recorded as relu_bits",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating("leaky_relu", args, out[0]);
        },
    .kernel = &kernels::leaky_relu_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, gated(c.input(0), c.take_cotangent(),
                         c.attrs<SlopeAttrs>().slope));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, gated(c.input(0), c.tangent(), c.attrs<SlopeAttrs>().slope));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor leaky_relu(const Operand& x, double negative_slope) {
  const Tensor& value = ops::tensor_of("leaky_relu", x);
  if (negative_slope == 0.0) {
    return relu(x);
  }
  if (ops::will_be_recorded(value)) {
    return ops::relu_bits(x, negative_slope);
  }
  return graph::apply(ops::kLeakyRelu, {x}, ops::SlopeAttrs{negative_slope});
}

}  // namespace neap
