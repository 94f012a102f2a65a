// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/relu.hpp"

#include "neap/kernels/relu.hpp"
#include "neap/ops/le.hpp"
#include "neap/ops/relu_bits.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/where.hpp"

namespace neap {
namespace ops {
namespace {

Tensor gated(const Tensor& y, Tensor d) {
  return where(le(y, 0), 0, std::move(d));
}

}  // namespace

// The form for calls that nothing records; relu() takes relu_bits for others.
// Its rules are for tangents, and for recorders that record it all the same.
const Op kRelu{
    .name = "relu",
    .formula = "y = max(x, 0), dy/dx = 0 at 0; recorded as relu_bits",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("relu", args, out[0]); },
    .kernel = &kernels::relu_kernels,
    .vjp =
        [](VjpContext& c) { c.set(0, gated(c.output(), c.take_cotangent())); },
    .jvp = [](JvpContext& c) { c.set(0, gated(c.output(), c.tangent())); },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor relu(const Operand& x) {
  if (ops::will_be_recorded(ops::tensor_of("relu", x))) {
    return ops::relu_bits(x, 0.0);
  }
  return graph::apply(ops::kRelu, {x});
}

}  // namespace neap
