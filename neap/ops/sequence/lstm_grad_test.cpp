// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/lstm_grad.hpp"

#include "neap/ops/sequence/recurrent_test.hpp"

namespace neap::testing {
namespace {

constexpr PlainGrad kPlain{
    .columns = 4,
    .gates = 4,
    .rule = [](const double* kept, double c, double before, double& dh,
               double& dc, double* dkept) {
      const double i = kept[0];
      const double f = kept[1];
      const double g = kept[2];
      const double o = kept[3];
      dc += dh * o * (1.0 - std::tanh(c) * std::tanh(c));
      dkept[0] = dc * g * i * (1.0 - i);
      dkept[1] = dc * before * f * (1.0 - f);
      dkept[2] = dc * i * (1.0 - g * g);
      dkept[3] = dh * std::tanh(c) * o * (1.0 - o);
      dc *= f;
      dh = 0.0;
    }};

// gates, w_hh, c, c0, dy, dh, dc
std::vector<InputSpec> inputs(std::int64_t steps, std::int64_t batch,
                              std::int64_t hidden) {
  return {uniform({steps, batch, 4 * hidden}, 0.1, 0.9),
          uniform({4 * hidden, hidden}, -1, 1),
          uniform({steps, batch, hidden}, -1, 1),
          uniform({batch, hidden}, -1, 1),
          uniform({steps, batch, hidden}, -1, 1),
          uniform({batch, hidden}, -1, 1),
          uniform({steps, batch, hidden}, -1, 1)};
}

OpRow row(const char* name, bool is_reverse) {
  return {.name = name,
          .fn =
              [=](Inputs x) {
                const auto d = ops::lstm_grad(
                    {x[0], x[1], x[2], x[3], x[4], x[5], x[6]},
                    {.is_reverse = is_reverse, .wants_state = true});
                return joined({d[0], d[1], d[2]});
              },
          .inputs = inputs(3, 2, 3),
          .reference =
              [=](std::span<const HostArray> in) {
                return plain_grad(
                    kPlain,
                    {in[2].shape, in[0].values, in[1].values, in[2].values,
                     in[3].values, in[4].values, in[5].values, in[6].values},
                    true, is_reverse);
              },
          .zero_size = {shapes_of(inputs(3, 0, 3))},
          .differentiable = false};
}

OpTable lstm_grad_table() {
  OpTable table{.name = "lstm_grad",
                .op = &ops::kLstmGrad,
                .rows = {row("all", false), row("reverse", true)}};
  table.rows.push_back(
      {.name = "the last dh alone",
       .fn =
           [](Inputs x) {
             return ops::lstm_grad(
                 {.kept = x[0], .w_hh = x[1], .values = x[2], .dh = x[3]},
                 {})[0];
           },
       .inputs = {uniform({2, 2, 8}, 0.1, 0.9), uniform({8, 2}, -1, 1),
                  uniform({2, 2, 2}, -1, 1), uniform({2, 2}, -1, 1)},
       .reference =
           [](std::span<const HostArray> in) {
             Numbers d = plain_grad(kPlain,
                                    {.shape = in[2].shape,
                                     .kept = in[0].values,
                                     .w = in[1].values,
                                     .values = in[2].values,
                                     .dh = in[3].values},
                                    false, false);
             d.resize(in[0].values.size());
             return d;
           },
       .differentiable = false});
  table.errors = {{.name = "c",
                   .fn =
                       [](Inputs x) {
                         return ops::lstm_grad({x[0], x[1], x[2]}, {})[0];
                       },
                   .inputs = {uniform({2, 2, 8}, 0, 1), uniform({8, 2}, 0, 1),
                              uniform({2, 2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "w_hh",
                   .fn =
                       [](Inputs x) {
                         return ops::lstm_grad({x[0], x[1], x[2]}, {})[0];
                       },
                   .inputs = {uniform({2, 2, 8}, 0, 1), uniform({6, 2}, 0, 1),
                              uniform({2, 2, 2}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(lstm_grad_table);

}  // namespace
}  // namespace neap::testing
