// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/gru_grad.hpp"

#include "neap/ops/sequence/recurrent_test.hpp"

namespace neap::testing {
namespace {

constexpr PlainGrad kPlain{
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
                return plain_grad(kPlain,
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

const Listed kListed(gru_grad_table);

}  // namespace
}  // namespace neap::testing
