// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/rnn.hpp"

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

const Listed kListed(rnn_table);
const Listed kCell(rnn_cell_table);

}  // namespace
}  // namespace neap::testing
