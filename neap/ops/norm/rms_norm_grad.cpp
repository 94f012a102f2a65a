// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/rms_norm_grad.hpp"

#include "neap/ops/norm/norm_rules.hpp"

namespace neap::ops {

// Its rules take the statistics for the function of x that they are.
const Op kRmsNormGrad{
    .name = "rms_norm_grad",
    .formula =
        "dx = s (g - xhat mean(g xhat)), g = dy w; dw = sum of dy xhat, "
        "for rms_norm",
    .outputs = 2,
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_norm_grad(args, 1, out); },
    .kernel = &kernels::rms_norm_grad_kernels,
    .vjp = [](VjpContext& c) { vjp_norm_grad(c, Norm::kRms); },
    .jvp = [](JvpContext& c) { jvp_norm_grad(c, Norm::kRms); },
    .facts = {.vjp_reads = {{{.inputs = 0b1110},
                             {.inputs = 0b1111},
                             {},
                             {.inputs = 0b0111}}},
              .donates = 0b11,
              .sample_axis = SampleAxis::kReduced,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              12 * args.inputs[0].shape.element_count());
              }}};

std::array<Tensor, 2> rms_norm_grad(const Operand& g, const Operand& x,
                                    const Operand& stats, const Tensor& weight,
                                    const kernels::NormGradAttrs& wanted) {
  const std::array<Operand, 4> inputs{g, x, stats, weight};
  std::array<Tensor, 2> outputs;
  graph::dispatch(kRmsNormGrad,
                  std::span(inputs).first(weight.defined() ? 4 : 3), wanted,
                  g.site(), outputs);
  return outputs;
}

}  // namespace neap::ops
