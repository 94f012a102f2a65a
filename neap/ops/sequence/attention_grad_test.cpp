// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/attention_grad.hpp"

#include "neap/kernels/sequence/attention.hpp"
#include "neap/ops/sequence/attention.hpp"
#include "neap/ops/sequence/attention_test.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::testing {
namespace {

kernels::AttentionAttrs attrs_of(const AttentionCase& of, std::size_t wanted) {
  kernels::AttentionAttrs attrs;
  attrs.scale = of.scale;
  attrs.dropout = of.dropout;
  attrs.key = tensor::generator().state();
  attrs.is_causal = of.is_causal;
  attrs.has_mask = of.is_masked;
  attrs.dq = wanted == 0;
  attrs.dk = wanted == 1;
  attrs.dv = wanted == 2;
  return attrs;
}

// Operands: dy, v, q, k and perhaps a mask; of dv, v gives the width alone.
OpRow row(const char* name, const AttentionCase& of, std::size_t wanted) {
  const auto gradient = [=](Inputs x) {
    const Tensor mask = of.is_masked ? x[4] : Tensor();
    const auto attrs = attrs_of(of, wanted);
    const std::array<Tensor, 2> y =
        ops::attention(x[2], x[3], x[1], mask, attrs);
    return ops::attention_grad(x[0],
                               {.q = x[2],
                                .k = x[3],
                                .v = x[1],
                                .mask = mask,
                                .y = y[0].detach(),
                                .lse = y[1].detach()},
                               attrs)[wanted];
  };
  // A single batch, and lengths before heads of 1: (1, t, 1, d).
  OpRow row{
      .name = name,
      .fn = gradient,
      .inputs = {uniform({1, 3, 1, 2}, -1, 1), uniform({1, 4, 1, 2}, -1, 1),
                 uniform({1, 3, 1, 3}, -1, 1), uniform({1, 4, 1, 3}, -1, 1)},
      .reference = [=](std::span<const HostArray> x) {
        std::vector<HostArray> plain(x.begin(), x.end());
        for (std::size_t i = 0; i < 4; ++i) {
          plain[i].shape = {x[i].shape[0], x[i].shape[1], x[i].shape[3]};
        }
        return PlainAttention(of, plain[2], plain[3],
                              of.is_masked ? &plain[4] : nullptr)
            .gradients(plain[0], plain[1])[wanted];
      }};
  if (wanted == 2) {
    row.inputs[1] = row.inputs[1].constant();
  }
  if (of.is_masked) {
    const Shape scores{1, 1, 3, 4};
    row.inputs.push_back(of.is_bool ? integers(scores, 0, 2).as(boolean)
                                    : uniform(scores, -1, 1));
  }
  return row;
}

OpTable table_of(const char* name, const graph::Op& op, double dropout) {
  OpTable table{.name = name, .op = &op};
  const AttentionCase plain{.dropout = dropout};
  const AttentionCase causal{.is_causal = true, .dropout = dropout};
  const AttentionCase masked{.is_masked = true, .dropout = dropout};
  const AttentionCase hidden{
      .is_masked = true, .is_bool = true, .dropout = dropout};
  table.rows = {row("dq", plain, 0),          row("dk", causal, 1),
                row("dv", plain, 2),          row("dq, masked", masked, 0),
                row("dv, masked", masked, 2), row("dk, hidden", hidden, 1)};
  table.rows[0].zero_size = {
      {{0, 3, 1, 2}, {0, 4, 1, 2}, {0, 3, 1, 3}, {0, 4, 1, 3}}};
  const auto unfit = [](Inputs x) {
    kernels::AttentionAttrs attrs;
    attrs.dq = true;
    return ops::attention_grad(
        x[0],
        {.q = x[0], .k = x[1], .v = x[0], .mask = {}, .y = x[0], .lse = x[0]},
        attrs)[0];
  };
  table.errors = {
      {.name = "shapes",
       .fn = unfit,
       .inputs = {uniform({1, 3, 1, 2}, 0, 1), uniform({1, 3, 1, 4}, 0, 1)},
       .error = typeid(ShapeError),
       .says = "attention_grad:"}};
  return table;
}

OpTable table() {
  return table_of("attention_grad", ops::kAttentionGrad, 0.0);
}

const Listed kListed(table);

OpTable dropout_table() {
  return table_of("attention_dropout_grad", ops::kAttentionDropoutGrad, 0.4);
}

const Listed kDropoutListed(dropout_table);

}  // namespace
}  // namespace neap::testing
