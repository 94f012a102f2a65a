// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/gru_grad.hpp"

#include "neap/kernels/sequence/gru.hpp"

namespace neap::ops {

const Op kGruGrad{
    .name = "gru_grad",
    .formula =
        "dn = dh (1 - z) (1 - n^2), dz = dh (h_(t-1) - n) z (1 - z), dr = dn "
        "(h w_hn^T + b_hn) r (1 - r); dh_(t-1) = dy + dh z + dr w_hr + dz w_hz "
        "+ dn r w_hn",
    .outputs = 2,
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_recurrent_grad(args, {.gates = 3, .columns = 4}, out);
        },
    .kernel = &kernels::gru_grad_kernels,
    .facts = {.donates = 0b1,
              .sample_axis = SampleAxis::kMixed,
              .cost = recurrent_grad_cost}};

std::array<Tensor, 2> gru_grad(RecurrentGradInputs in,
                               const RecurrentGradAttrs& attrs) {
  std::array<Tensor, 2> out;
  call_recurrent_grad(kGruGrad, std::move(in), attrs, out);
  return out;
}

}  // namespace neap::ops
