// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/rnn_grad.hpp"

#include "neap/kernels/sequence/rnn.hpp"

namespace neap::ops {

const Op kRnnGrad{
    .name = "rnn_grad",
    .formula =
        "dh = dy_t + ds_(t+1) w_hh; ds = dh (1 - y^2), or dh where y > 0",
    .outputs = 2,
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_recurrent_grad(args, {}, out); },
    .kernel = &kernels::rnn_grad_kernels,
    .facts = {.donates = 0b100,
              .sample_axis = SampleAxis::kMixed,
              .cost = recurrent_grad_cost}};

std::array<Tensor, 2> rnn_grad(RecurrentGradInputs in,
                               const RecurrentGradAttrs& attrs) {
  std::array<Tensor, 2> out;
  call_recurrent_grad(kRnnGrad, std::move(in), attrs, out);
  return out;
}

}  // namespace neap::ops
