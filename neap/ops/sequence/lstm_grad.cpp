// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/lstm_grad.hpp"

#include "neap/kernels/sequence/lstm.hpp"

namespace neap::ops {

const Op kLstmGrad{
    .name = "lstm_grad",
    .formula =
        "dh = dy_t + d gates_(t+1) w_hh, dc = dc_(t+1) f_(t+1) + dh o (1 - "
        "tanh(c)^2); di = dc g i (1 - i), df = dc c_(t-1) f (1 - f), dg = dc i "
        "(1 - g^2), do = dh tanh(c) o (1 - o)",
    .outputs = 3,
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_recurrent_grad(args, {.gates = 4, .columns = 4, .states = 2},
                               out);
        },
    .kernel = &kernels::lstm_grad_kernels,
    .facts = {.donates = 0b1,
              .sample_axis = SampleAxis::kMixed,
              .cost = recurrent_grad_cost}};

std::array<Tensor, 3> lstm_grad(RecurrentGradInputs in,
                                const RecurrentGradAttrs& attrs) {
  std::array<Tensor, 3> out;
  call_recurrent_grad(kLstmGrad, std::move(in), attrs, out);
  return out;
}

}  // namespace neap::ops
