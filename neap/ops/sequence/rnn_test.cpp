// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/rnn.hpp"

#include "neap/ops/sequence/recurrent_grads.hpp"
#include "neap/ops/sequence/recurrent_test.hpp"

namespace neap::testing {
namespace {

constexpr PlainNet kTanh{
    .cell = [](const double* x, const double* h, double, double&) {
      return std::tanh(x[0] + h[0]);
    }};
constexpr PlainNet kRelu{
    .cell = [](const double* x, const double* h, double, double&) {
      return std::max(0.0, x[0] + h[0]);
    }};

template <const PlainNet& kNet>
Numbers reference(std::span<const HostArray> in, bool has_state,
                  bool is_reverse) {
  return plain(kNet, in, has_state, is_reverse);
}

template <Nonlinearity kNonlinearity>
Tensor whole(Inputs x, bool has_state, bool is_reverse) {
  const RecurrentResult r =
      rnn(x[0], weights_of(x), has_state ? x[5] : Tensor(),
          {.nonlinearity = kNonlinearity, .is_reverse = is_reverse});
  return joined({r.output, r.h});
}

OpTable rnn_table() {
  OpTable table{.name = "rnn",
                .op = &ops::kRnn,
                .rows = recurrent_rows(kTanh, whole<Nonlinearity::kTanh>,
                                       reference<kTanh>),
                .errors = recurrent_errors(1, whole<Nonlinearity::kTanh>)};
  for (OpRow& row :
       recurrent_rows(kRelu, whole<Nonlinearity::kRelu>, reference<kRelu>)) {
    row.name += ", relu";
    row.third_derivative = false;
    row.smooth = row.inputs[0].shape[1] < 10;  // many sums, some near 0
    table.rows.push_back(std::move(row));
  }
  table.rows.push_back({.name = "relu at 0",
                        .fn =
                            [](Inputs x) {
                              return rnn(x[0], {x[1], x[2]}, {},
                                         {.nonlinearity = Nonlinearity::kRelu})
                                  .output;
                            },
                        .inputs = {literal({1, 3, 1}, {-1, 0, 2}),
                                   literal({1, 1}, {1}), literal({1, 1}, {1})},
                        .expected = {0, 0, 2},
                        .expected_vjp = {{0, 0, 1}, {2}, {0}},
                        .expected_jvp = {0, 0, 3},
                        .smooth = false});
  return table;
}

OpTable rnn_cell_table() {
  return recurrent_cell_table(
      "rnn_cell", kTanh,
      [](const Tensor& x, const Tensor& h, const RecurrentWeights& weights) {
        return rnn_cell(x, h, weights);
      });
}

const Listed kRnnListed(rnn_table);
const Listed kCell(rnn_cell_table);

constexpr PlainGrad kRnnGradTanh{.rule = [](const double* kept, double, double,
                                            double& dh, double&,
                                            double* dkept) {
  dkept[0] = dh * (1.0 - kept[0] * kept[0]);
  dh = 0.0;
}};
constexpr PlainGrad kRnnGradRelu{.rule = [](const double* kept, double, double,
                                            double& dh, double&,
                                            double* dkept) {
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
                return plain_grad(is_relu ? kRnnGradRelu : kRnnGradTanh,
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

const Listed kRnnGradListed(rnn_grad_table);

}  // namespace
}  // namespace neap::testing
