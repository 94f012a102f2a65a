// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/softplus.hpp"

#include "neap/kernels/softplus.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/softplus_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

using kernels::SoftplusAttrs;

namespace {

Tensor softplus_slope(const Operand& g, const Operand& x,
                      const SoftplusAttrs& attrs) {
  return softplus_grad(g, x, attrs);
}

}  // namespace

const Op kSoftplus{
    .name = "softplus",
    .formula = "y = ln(1 + e^(beta x)) / beta, and x where beta x > threshold",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating("softplus", args, out[0]);
        },
    .kernel = &kernels::softplus_kernels,
    .vjp = vjp_from_input<SoftplusAttrs, softplus_slope>,
    .jvp = jvp_from_input<SoftplusAttrs, softplus_slope>,
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor softplus(const Operand& x, double beta, double threshold) {
  if (!(beta > 0.0)) {
    base::raise<ValueError>("softplus: beta is {}, expected beta > 0", beta);
  }
  return graph::apply(ops::kSoftplus, {x}, ops::SoftplusAttrs{beta, threshold});
}

}  // namespace neap
