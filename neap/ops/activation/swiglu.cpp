// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/activation/swiglu.hpp"

#include "neap/kernels/activation/activations.hpp"
#include "neap/ops/activation/activation_grads.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

Tensor through_silu(const Tensor& g, const Tensor& a) {
  return silu_grad(g, a.shape() == g.shape() ? a : expand(a, g.shape()));
}

void vjp_swiglu(VjpContext& c) {
  if (c.needs(0)) {
    c.set(0, sum_to(through_silu(mul(c.cotangent(), c.input(1)), c.input(0)),
                    c.input_shape(0)));
  }
  if (c.needs(1)) {
    c.set(1,
          sum_to(mul(c.take_cotangent(), silu(c.input(0))), c.input_shape(1)));
  }
}

void jvp_swiglu(JvpContext& c) {
  Tensor d;
  if (c.tangent(0).defined()) {
    d = through_silu(mul(c.tangent(0), c.input(1)), c.input(0));
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d), mul(c.tangent(1), silu(c.input(0))));
  }
  c.set(0, expand(d, c.output().shape()));
}

}  // namespace

const Op kSwiglu{.name = "swiglu",
                 .formula = "y = silu(a) b (Shazeer, arXiv 2002.05202)",
                 .infer = infer_broadcast_floating,
                 .kernel = &kernels::swiglu_kernels,
                 .vjp = vjp_swiglu,
                 .jvp = jvp_swiglu,
                 .facts = {.vjp_reads = {{{.inputs = 0b11},
                                          {.inputs = 0b01, .shapes = 0b10}}},
                           .donates = 0b11,
                           .rows = rows_by_element}};

}  // namespace ops

Tensor swiglu(const Operand& gate, const Operand& up) {
  const ops::Operands both("swiglu", gate, up);
  return graph::apply(ops::kSwiglu, {both.a(), both.b()});
}

}  // namespace neap
