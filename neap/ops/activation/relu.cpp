// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/activation/relu.hpp"

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/kernels/activation/relu_bits.hpp"
#include "neap/kernels/engine/bits.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/support.hpp"
#include "neap/tensor/execution.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::SlopeAttrs;

Tensor gated_by_output(const Tensor& y, Tensor d) {
  return where(le(y, 0), 0, std::move(d));
}

Tensor gated_by_input(const Tensor& x, const Tensor& d, double slope) {
  return where(gt(x, 0), d, mul(d, slope));
}

void infer_relu_grad(const OpArgs& args, std::span<Spec> out) {
  const Spec& g = args.inputs[0];
  const Spec& bits = args.inputs[1];
  check_computes("relu_grad", g.dtype);
  check_dtype("relu_grad", bits.dtype, u8);
  const std::int64_t bytes = kernels::bit_bytes(g.shape.element_count());
  if (bits.shape != Shape{bytes}) {
    raise<ShapeError>("relu_grad: bits {} for {}, expected [{}]",
                      format_shape(bits.shape), format_shape(g.shape), bytes);
  }
  out[0].dtype = g.dtype;
  out[0].shape = g.shape;
}

}  // namespace

// relu and leaky_relu are for calls that nothing records; their functions take
// relu_bits for others. Their rules are for tangents, and for recorders that
// record them all the same.
const Op kRelu{
    .name = "relu",
    .formula = "y = max(x, 0), dy/dx = 0 at 0; recorded as relu_bits",
    .infer = infer_floating,
    .kernel = &kernels::relu_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, gated_by_output(c.output(), c.take_cotangent()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, gated_by_output(c.output(), c.tangent()));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_by_element}};

const Op kLeakyRelu{
    .name = "leaky_relu",
    .formula =
        "y = x > 0 ? x : slope x, dy/dx = slope at 0; recorded as relu_bits",
    .infer = infer_floating,
    .kernel = &kernels::leaky_relu_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, gated_by_input(c.input(0), c.take_cotangent(),
                                  c.attrs<SlopeAttrs>().slope));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, gated_by_input(c.input(0), c.tangent(),
                                  c.attrs<SlopeAttrs>().slope));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_by_element}};

// The second output is a residual alone, never given to the user: one bit an
// element, set where x is positive.
const Op kReluBits{
    .name = "relu_bits",
    .formula = "y = x > 0 ? x : slope x, and the bits of x > 0",
    .outputs = 2,
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating(args, out);
          out[1].dtype = u8;
          out[1].shape = {kernels::bit_bytes(out[0].shape.element_count())};
        },
    .kernel = &kernels::relu_bits_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, relu_grad(c.take_cotangent(), c.output(1),
                             c.attrs<SlopeAttrs>().slope));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, relu_grad(c.tangent(), c.output(1),
                             c.attrs<SlopeAttrs>().slope));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b10}}},
              .donates = 0b1,
              .rows = rows_with_bits}};

// Linear in g, and its own transpose.
const Op kReluGrad{.name = "relu_grad",
                   .formula = "dx = bit ? g : slope g, for the bits of x > 0",
                   .infer = infer_relu_grad,
                   .kernel = &kernels::relu_grad_kernels,
                   .vjp =
                       [](VjpContext& c) {
                         c.set(0, relu_grad(c.take_cotangent(), c.input(1),
                                            c.attrs<SlopeAttrs>().slope));
                       },
                   .jvp =
                       [](JvpContext& c) {
                         c.set(0, relu_grad(c.tangent(0), c.input(1),
                                            c.attrs<SlopeAttrs>().slope));
                       },
                   .facts = {.vjp_reads = {{{.inputs = 0b10}, {}}},
                             .donates = 0b1,
                             .rows = rows_by_bits}};

Tensor relu_bits(const Operand& x, double slope) {
  std::array<Tensor, 2> outputs;
  graph::dispatch(kReluBits, std::span(&x, 1), SlopeAttrs{slope}, x.site(),
                  outputs);
  return std::move(outputs[0]);
}

bool will_be_recorded(const Tensor& x) {
  return tensor::thread_execution().grad_enabled && x.requires_grad();
}

Tensor relu_grad(const Operand& g, const Operand& bits, double slope) {
  return graph::apply(kReluGrad, {g, bits}, SlopeAttrs{slope});
}

}  // namespace ops

Tensor relu(const TensorOperand& x) {
  if (ops::will_be_recorded(ops::tensor_of("relu", x))) {
    return ops::relu_bits(x, 0.0);
  }
  return graph::apply(ops::kRelu, {x});
}

Tensor leaky_relu(const TensorOperand& x, double negative_slope) {
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
