// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/lstm.hpp"

#include "neap/ops/operators.hpp"
#include "neap/ops/sequence/recurrent_grads.hpp"
#include "neap/ops/sequence/recurrent_test.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::testing {
namespace {

constexpr PlainNet kPlain{.gates = 4,
                          .has_c = true,
                          .cell = [](const double* x, const double* h,
                                     double /* before */, double& c) {
                            const double i = logistic(x[0] + h[0]);
                            const double f = logistic(x[1] + h[1]);
                            const double g = std::tanh(x[2] + h[2]);
                            const double o = logistic(x[3] + h[3]);
                            c = f * c + i * g;
                            return o * std::tanh(c);
                          }};

// The states are a sum and a difference: alone, c0's cotangent does not need
// c0, which the facts say of bias, h0 and c0 at once.
LstmState state_of(Inputs x, bool has_state) {
  return has_state ? LstmState{x[5] + x[6], x[5] - x[6]} : LstmState{};
}

Numbers reference(std::span<const HostArray> in, bool has_state,
                  bool is_reverse) {
  std::vector<HostArray> all(in.begin(), in.end());
  for (std::size_t i = 0; has_state && i < in[5].values.size(); ++i) {
    all[5].values[i] = in[5].values[i] + in[6].values[i];
    all[6].values[i] = in[5].values[i] - in[6].values[i];
  }
  return plain(kPlain, all, has_state, is_reverse);
}

Tensor whole(Inputs x, bool has_state, bool is_reverse) {
  const LstmResult r =
      lstm(x[0], weights_of(x), state_of(x, has_state), is_reverse);
  return joined({r.output, r.state.h, r.state.c});
}

// The end of the plain results: from `first` units of `count` on.
Numbers tail(Numbers all, std::size_t count) {
  all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(count));
  return all;
}

void add_errors(OpTable& table) {
  table.errors.push_back(
      {.name = "half a state",
       .fn =
           [](Inputs x) {
             return lstm(x[0], {x[1], x[2]}, {x[3]}).output;
           },
       .inputs = {uniform({2, 1, 1}, 0, 1), uniform({4, 1}, 0, 1),
                  uniform({4, 1}, 0, 1), uniform({1, 1}, 0, 1)},
       .error = typeid(ValueError)});
  table.errors.push_back(
      {.name = "one bias",
       .fn =
           [](Inputs x) {
             return lstm(x[0], {x[1], x[2], x[3]}).output;
           },
       .inputs = {uniform({2, 1, 1}, 0, 1), uniform({4, 1}, 0, 1),
                  uniform({4, 1}, 0, 1), uniform({4}, 0, 1)},
       .error = typeid(ValueError)});
}

// (b, T, features) as (T, b, features).
HostArray time_first(const HostArray& x) {
  HostArray out{{x.shape[1], x.shape[0], x.shape[2]}, {}};
  const std::int64_t width = x.shape[2];
  for (std::int64_t t = 0; t < x.shape[1]; ++t) {
    for (std::int64_t b = 0; b < x.shape[0]; ++b) {
      const auto row = x.values.begin() + (b * x.shape[1] + t) * width;
      out.values.insert(out.values.end(), row, row + width);
    }
  }
  return out;
}

OpTable lstm_table() {
  OpTable table{.name = "lstm",
                .op = &ops::kLstm,
                .rows = recurrent_rows(kPlain, whole, reference),
                .errors = recurrent_errors(4, whole)};
  table.rows.push_back(
      {.name = "the last h alone, batch first, no bias",
       .fn =
           [](Inputs x) {
             return lstm(transpose(x[0], 0, 1), {x[1], x[2]}).state.h;
           },
       .inputs = {uniform({2, 3, 2}, -1, 1), uniform({8, 2}, -1, 1),
                  uniform({8, 2}, -1, 1)},
       .reference =
           [](std::span<const HostArray> in) {
             std::vector<HostArray> all(in.begin(), in.end());
             all[0] = time_first(in[0]);
             all.push_back({Shape{8}, Numbers(8)});
             all.push_back({Shape{8}, Numbers(8)});
             Numbers y = plain(kPlain, all, false, false);
             y.resize(y.size() - 4);
             return tail(std::move(y), 4);
           },
       .third_derivative = false});
  table.rows.push_back(
      {.name = "the last c alone",
       .fn =
           [](Inputs x) {
             return lstm(x[0], weights_of(x), state_of(x, true)).state.c;
           },
       .inputs = recurrent_inputs({2, 2, 1, 2}, 4, 2),
       .reference = [](auto in) { return tail(reference(in, true, false), 4); },
       .third_derivative = false});
  add_errors(table);
  return table;
}

OpTable lstm_cell_table() {
  return {.name = "lstm_cell",
          .rows = {{.name = "plain",
                    .fn =
                        [](Inputs x) {
                          const LstmState state =
                              lstm_cell(x[0], state_of(x, true), weights_of(x));
                          return joined({state.h, state.c});
                        },
                    .inputs =
                        [] {
                          auto in = recurrent_inputs({1, 3, 2, 2}, 4, 2);
                          in[0].shape = {3, 2};
                          return in;
                        }(),
                    .reference =
                        [](std::span<const HostArray> in) {
                          std::vector<HostArray> all(in.begin(), in.end());
                          all[0].shape = {1, in[0].shape[0], 2};
                          const Numbers y = reference(all, true, false);
                          return tail(y, y.size() / 3 * 2);
                        },
                    .zero_size =
                        {{{0, 2}, {8, 2}, {8, 2}, {8}, {8}, {0, 2}, {0, 2}}}}},
          .errors = {{.name = "rank",
                      .fn =
                          [](Inputs x) {
                            return lstm_cell(x[0], {}, {x[1], x[2]}).h;
                          },
                      .inputs = {uniform({2, 1, 1}, 0, 1),
                                 uniform({4, 1}, 0, 1), uniform({4, 1}, 0, 1)},
                      .error = typeid(ShapeError)}}};
}

const Listed kLstmListed(lstm_table);
const Listed kCell(lstm_cell_table);

constexpr PlainGrad kLstmGradPlain{
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
                    kLstmGradPlain,
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
             Numbers d = plain_grad(kLstmGradPlain,
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

const Listed kLstmGradListed(lstm_grad_table);

}  // namespace
}  // namespace neap::testing
