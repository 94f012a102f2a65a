// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/gru.hpp"

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

const Listed kListed(gru_table);
const Listed kCell(gru_cell_table);

}  // namespace
}  // namespace neap::testing
