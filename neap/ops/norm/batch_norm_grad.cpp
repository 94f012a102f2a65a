// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/batch_norm_grad.hpp"

#include "neap/ops/norm/channel_norm_rules.hpp"

namespace neap::ops {

// Its rules take the statistics for the function of x that they are.
const Op kBatchNormGrad{
    .name = "batch_norm_grad",
    .formula =
        "dx = s (g - mean g - xhat mean(g xhat)), g = dy w; dw = sum of "
        "dy xhat, db = sum of dy; mean over a channel of the batch",
    .outputs = 3,
    .infer = infer_channel_norm_grad,
    .kernel = &kernels::batch_norm_grad_kernels,
    .vjp = vjp_channel_norm_grad,
    .jvp = jvp_channel_norm_grad,
    .facts = {
        .vjp_reads =
            {{{.inputs = 0b1110}, {.inputs = 0b1111}, {}, {.inputs = 0b0111}}},
        .donates = 0b11,
        .sample_axis = SampleAxis::kMixed,
        .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
          return moving(args, outputs,
                        12 * args.inputs[0].shape.element_count());
        }}};

}  // namespace neap::ops
