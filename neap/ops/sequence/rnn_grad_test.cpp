// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/rnn_grad.hpp"

#include "neap/ops/sequence/recurrent_test.hpp"

namespace neap::testing {
namespace {

constexpr PlainGrad kTanh{.rule = [](const double* kept, double, double,
                                     double& dh, double&, double* dkept) {
  dkept[0] = dh * (1.0 - kept[0] * kept[0]);
  dh = 0.0;
}};
constexpr PlainGrad kRelu{.rule = [](const double* kept, double, double,
                                     double& dh, double&, double* dkept) {
  dkept[0] = kept[0] > 0.0 ? dh : 0.0;
  dh = 0.0;
}};

// y, w_hh, dy, dh
std::vector<InputSpec> inputs(std::int64_t steps, std::int64_t batch,
                              std::int64_t hidden) {
  return {
      uniform({steps, batch, hidden}, -1, 1), uniform({hidden, hidden}, -1, 1),
      uniform({steps, batch, hidden}, -1, 1), uniform({batch, hidden}, -1, 1)};
}

OpRow row(const char* name, bool is_relu, bool is_reverse) {
  return {.name = name,
          .fn =
              [=](Inputs x) {
                const auto d = ops::rnn_grad(
                    {.kept = x[0], .w_hh = x[1], .dy = x[2], .dh = x[3]},
                    {.is_reverse = is_reverse,
                     .is_relu = is_relu,
                     .wants_state = true});
                return joined({d[0], d[1]});
              },
          .inputs = inputs(3, 2, 3),
          .reference =
              [=](std::span<const HostArray> in) {
                return plain_grad(is_relu ? kRelu : kTanh,
                                  {.shape = in[0].shape,
                                   .kept = in[0].values,
                                   .w = in[1].values,
                                   .dy = in[2].values,
                                   .dh = in[3].values},
                                  false, is_reverse);
              },
          .zero_size = {shapes_of(inputs(3, 0, 3))},
          .differentiable = false};
}

OpTable rnn_grad_table() {
  OpTable table{.name = "rnn_grad",
                .op = &ops::kRnnGrad,
                .rows = {row("tanh", false, false), row("relu", true, true)}};
  table.errors = {{.name = "w_hh",
                   .fn =
                       [](Inputs x) {
                         return ops::rnn_grad({x[0], x[1]}, {})[0];
                       },
                   .inputs = {uniform({2, 2, 2}, 0, 1), uniform({3, 2}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(rnn_grad_table);

}  // namespace
}  // namespace neap::testing
