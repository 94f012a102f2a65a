// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/gru.hpp"

#include "neap/ops/sequence/recurrent_grads.hpp"
#include "neap/ops/sequence/recurrent_test.hpp"

namespace neap::testing {
namespace {

constexpr PlainNet kPlain{
    .gates = 3,
    .cell = [](const double* x, const double* h, double before, double&) {
      const double r = logistic(x[0] + h[0]);
      const double z = logistic(x[1] + h[1]);
      const double n = std::tanh(x[2] + r * h[2]);
      return (1.0 - z) * n + z * before;
    }};

Tensor whole(Inputs x, bool has_state, bool is_reverse) {
  const RecurrentResult r =
      gru(x[0], weights_of(x), has_state ? x[5] : Tensor(), is_reverse);
  return joined({r.output, r.h});
}

Numbers reference(std::span<const HostArray> in, bool has_state,
                  bool is_reverse) {
  return plain(kPlain, in, has_state, is_reverse);
}

OpTable gru_table() {
  OpTable table{.name = "gru",
                .op = &ops::kGru,
                .rows = recurrent_rows(kPlain, whole, reference),
                .errors = recurrent_errors(3, whole)};
  table.rows.push_back(
      {.name = "no bias",
       .fn =
           [](Inputs x) {
             return gru(x[0], {x[1], x[2]}).output;
           },
       .inputs = {uniform({2, 2, 2}, -1, 1), uniform({6, 2}, -1, 1),
                  uniform({6, 2}, -1, 1)},
       .reference =
           [](std::span<const HostArray> in) {
             std::vector<HostArray> all(in.begin(), in.end());
             all.push_back({Shape{6}, Numbers(6)});
             all.push_back({Shape{6}, Numbers(6)});
             Numbers y = plain(kPlain, all, false, false);
             y.resize(y.size() - 4);
             return y;
           },
       .third_derivative = false});
  table.errors.push_back(
      {.name = "one bias",
       .fn =
           [](Inputs x) {
             return gru(x[0], {x[1], x[2], x[3]}).output;
           },
       .inputs = {uniform({2, 1, 1}, 0, 1), uniform({3, 1}, 0, 1),
                  uniform({3, 1}, 0, 1), uniform({3}, 0, 1)},
       .error = typeid(ValueError)});
  return table;
}

OpTable gru_cell_table() {
  return recurrent_cell_table(
      "gru_cell", kPlain,
      [](const Tensor& x, const Tensor& h, const RecurrentWeights& weights) {
        return gru_cell(x, h, weights);
      });
}

const Listed kGruListed(gru_table);
const Listed kCell(gru_cell_table);

constexpr PlainGrad kGruGradPlain{
    .columns = 4,
    .gates = 3,
    .rule = [](const double* kept, double /* y */, double before, double& dh,
               double& /* dc */, double* dkept) {
      const double r = kept[1];
      const double z = kept[2];
      const double n = kept[3];
      const double dn = dh * (1.0 - z) * (1.0 - n * n);
      dkept[0] = dn * r;
      dkept[1] = dn * kept[0] * r * (1.0 - r);
      dkept[2] = dh * (before - n) * z * (1.0 - z);
      dkept[3] = dn;
      dh *= z;
    }};

// gates, w_hh, y, h0, dy, dh
std::vector<InputSpec> inputs(std::int64_t steps, std::int64_t batch,
                              std::int64_t hidden) {
  return {uniform({steps, batch, 4 * hidden}, 0.1, 0.9),
          uniform({3 * hidden, hidden}, -1, 1),
          uniform({steps, batch, hidden}, -1, 1),
          uniform({batch, hidden}, -1, 1),
          uniform({steps, batch, hidden}, -1, 1),
          uniform({batch, hidden}, -1, 1)};
}

OpRow row(const char* name, bool is_reverse) {
  return {.name = name,
          .fn =
              [=](Inputs x) {
                const auto d = ops::gru_grad(
                    {x[0], x[1], x[2], x[3], x[4], x[5]},
                    {.is_reverse = is_reverse, .wants_state = true});
                return joined({d[0], d[1]});
              },
          .inputs = inputs(3, 2, 3),
          .reference =
              [=](std::span<const HostArray> in) {
                return plain_grad(kGruGradPlain,
                                  {.shape = in[2].shape,
                                   .kept = in[0].values,
                                   .w = in[1].values,
                                   .values = in[2].values,
                                   .state = in[3].values,
                                   .dy = in[4].values,
                                   .dh = in[5].values},
                                  false, is_reverse);
              },
          .zero_size = {shapes_of(inputs(3, 0, 3))},
          .differentiable = false};
}

OpTable gru_grad_table() {
  OpTable table{.name = "gru_grad",
                .op = &ops::kGruGrad,
                .rows = {row("all", false), row("reverse", true)}};
  table.errors = {{.name = "gates",
                   .fn =
                       [](Inputs x) {
                         return ops::gru_grad({x[0], x[1], x[2]}, {})[0];
                       },
                   .inputs = {uniform({2, 2, 6}, 0, 1), uniform({6, 2}, 0, 1),
                              uniform({2, 2, 2}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kGruGradListed(gru_grad_table);

}  // namespace
}  // namespace neap::testing
