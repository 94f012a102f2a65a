// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/layer_norm_grad.hpp"

#include "neap/ops/norm/norm_rules.hpp"

namespace neap::ops {

// Its rules take the statistics for the function of x that they are.
const Op kLayerNormGrad{
    .name = "layer_norm_grad",
    .formula =
        "dx = s (g - mean g - xhat mean(g xhat)), g = dy w; dw = sum of "
        "dy xhat, db = sum of dy, for layer_norm",
    .outputs = 3,
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_norm_grad(args, 2, out); },
    .kernel = &kernels::layer_norm_grad_kernels,
    .vjp = [](VjpContext& c) { vjp_norm_grad(c, Norm::kLayer); },
    .jvp = [](JvpContext& c) { jvp_norm_grad(c, Norm::kLayer); },
    .facts = {.vjp_reads = {{{.inputs = 0b1110},
                             {.inputs = 0b1111},
                             {},
                             {.inputs = 0b0111}}},
              .donates = 0b11,
              .sample_axis = SampleAxis::kReduced,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              16 * args.inputs[0].shape.element_count());
              }}};

std::array<Tensor, 3> layer_norm_grad(const Operand& g, const Operand& x,
                                      const Operand& stats,
                                      const Tensor& weight,
                                      const kernels::NormGradAttrs& wanted) {
  const std::array<Operand, 4> inputs{g, x, stats, weight};
  std::array<Tensor, 3> outputs;
  graph::dispatch(kLayerNormGrad,
                  std::span(inputs).first(weight.defined() ? 4 : 3), wanted,
                  g.site(), outputs);
  return outputs;
}

}  // namespace neap::ops
