// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Plain recurrent networks in double precision, for the tables of lstm, gru and
// rnn, and tables of rows that all three have.
#pragma once

#include <cmath>

#include "neap/ops/sequence/recurrent.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {

using Numbers = std::vector<double>;

inline double logistic(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

/// A network over a sequence: how each step computes one unit of one sample.
struct PlainNet {
  std::int64_t gates = 1;
  bool has_c = false;
  /// `x` and `h`: what both give to each gate; `before`: h or c. Sets c.
  double (*cell)(const double* x, const double* h, double h_before,
                 double& c) = nullptr;
};

struct PlainSequence {
  std::int64_t steps, batch, features, hidden;
};

/// y, then the last h (then c) one after the other. Inputs: x, w_ih, w_hh,
/// b_ih, b_hh, and h0, c0 if `has_state`.
inline Numbers plain(const PlainNet& net, std::span<const HostArray> in,
                     bool has_state, bool is_reverse) {
  const Shape& x = in[0].shape;
  const PlainSequence n{x[0], x[1], x[2], in[2].shape[1]};
  const auto elements = static_cast<std::size_t>(n.batch * n.hidden);
  Numbers h = has_state ? in[5].values : Numbers(elements);
  Numbers c = has_state && net.has_c ? in[6].values : Numbers(elements);
  Numbers y(elements * static_cast<std::size_t>(n.steps));
  for (std::int64_t s = 0; s < n.steps; ++s) {
    const std::int64_t t = is_reverse ? n.steps - 1 - s : s;
    Numbers next = h;
    for (std::int64_t b = 0; b < n.batch; ++b) {
      for (std::int64_t u = 0; u < n.hidden; ++u) {
        double by_x[4] = {};
        double by_h[4] = {};
        for (std::int64_t q = 0; q < net.gates; ++q) {
          const auto row = static_cast<std::size_t>(q * n.hidden + u);
          by_x[q] = in[3].values[row];
          by_h[q] = in[4].values[row];
          for (std::int64_t k = 0; k < n.features; ++k) {
            const auto column = static_cast<std::size_t>(k);
            const auto width = static_cast<std::size_t>(n.features);
            const auto at = static_cast<std::size_t>(t * n.batch + b) * width;
            by_x[q] +=
                in[0].values[at + column] * in[1].values[row * width + column];
          }
          for (std::int64_t k = 0; k < n.hidden; ++k) {
            const auto column = static_cast<std::size_t>(k);
            const auto width = static_cast<std::size_t>(n.hidden);
            by_h[q] += h[static_cast<std::size_t>(b) * width + column] *
                       in[2].values[row * width + column];
          }
        }
        const auto at = static_cast<std::size_t>(b * n.hidden + u);
        next[at] = net.cell(by_x, by_h, h[at], c[at]);
        y[static_cast<std::size_t>(t) * elements + at] = next[at];
      }
    }
    h = next;
  }
  y.insert(y.end(), h.begin(), h.end());
  if (net.has_c) {
    y.insert(y.end(), c.begin(), c.end());
  }
  return y;
}

/// The rule of a step for one unit: from its kept columns, the value of the
/// step (lstm's c) and of the one before, dh and dc, to the cotangents of the
/// columns and what is carried of dh and dc.
using PlainRule = void (*)(const double* kept, double value, double before,
                           double& dh, double& dc, double* dkept);

struct PlainGrad {
  std::int64_t columns = 1;  // kept
  std::int64_t gates = 1;
  PlainRule rule = nullptr;
};

/// d columns, then d h0 (then d c0). `kept`, `w` and perhaps empty: values of
/// the steps, of the one before the first, dy, the last dh, dc.
struct PlainGradInputs {
  Shape shape;  // of y
  Numbers kept{}, w{}, values{}, state{}, dy{}, dh{}, dc{};
};

inline Numbers plain_grad(const PlainGrad& net, const PlainGradInputs& in,
                          bool has_c, bool is_reverse) {
  const std::int64_t steps = in.shape[0];
  const std::int64_t batch = in.shape[1];
  const std::int64_t hidden = in.shape[2];
  const auto cells = static_cast<std::size_t>(batch * hidden);
  const auto n = static_cast<std::size_t>(hidden);
  const auto columns = static_cast<std::size_t>(net.columns);
  const auto gates = static_cast<std::size_t>(net.gates);
  const auto value = [](const Numbers& from, std::size_t at) {
    return from.empty() ? 0.0 : from[at];
  };
  Numbers out(in.kept.size());
  Numbers dh = in.dh.empty() ? Numbers(cells) : in.dh;
  Numbers dc(cells);
  for (std::int64_t s = steps - 1; s >= 0; --s) {
    const std::int64_t t = is_reverse ? steps - 1 - s : s;
    const auto at = static_cast<std::size_t>(t) * cells;
    const std::size_t last = is_reverse ? at + cells : at - cells;
    Numbers carried(cells);
    for (std::size_t i = 0; i < cells; ++i) {
      const std::size_t first = (at + i - i % n) * columns + i % n;
      double kept[4] = {};
      double dkept[4] = {};
      for (std::size_t q = 0; q < columns; ++q) {
        kept[q] = in.kept[first + q * n];
      }
      dh[i] += value(in.dy, at + i);
      dc[i] += value(in.dc, at + i);
      const double before =
          s == 0 ? value(in.state, i) : value(in.values, last + i);
      net.rule(kept, value(in.values, at + i), before, dh[i], dc[i], dkept);
      carried[i] = dh[i];
      for (std::size_t q = 0; q < columns; ++q) {
        out[first + q * n] = dkept[q];
      }
    }
    for (std::size_t i = 0; i < cells; ++i) {
      const std::size_t row = at + i - i % n;
      for (std::size_t q = 0; q < gates; ++q) {
        const std::size_t gate = (q + gates - (columns - gates)) % gates;
        for (std::size_t k = 0; k < n; ++k) {
          carried[i] +=
              out[row * columns + q * n + k] * in.w[(gate * n + k) * n + i % n];
        }
      }
    }
    dh = carried;
  }
  out.insert(out.end(), dh.begin(), dh.end());
  if (has_c) {
    out.insert(out.end(), dc.begin(), dc.end());
  }
  return out;
}

/// All results, one after the other.
inline Tensor joined(std::initializer_list<Tensor> results) {
  std::vector<Tensor> flat;
  for (const Tensor& result : results) {
    flat.push_back(reshape(result, {result.element_count()}));
  }
  return concat(flat);
}

/// x, w_ih, w_hh, b_ih, b_hh and `states` states.
inline std::vector<InputSpec> recurrent_inputs(const PlainSequence& n,
                                               std::int64_t gates, int states) {
  std::vector<InputSpec> inputs{uniform({n.steps, n.batch, n.features}, -1, 1),
                                uniform({gates * n.hidden, n.features}, -1, 1),
                                uniform({gates * n.hidden, n.hidden}, -1, 1),
                                uniform({gates * n.hidden}, -1, 1),
                                uniform({gates * n.hidden}, -1, 1)};
  for (int k = 0; k < states; ++k) {
    inputs.push_back(uniform({n.batch, n.hidden}, -1, 1));
  }
  return inputs;
}

inline std::vector<Shape> shapes_of(const std::vector<InputSpec>& inputs) {
  std::vector<Shape> shapes;
  for (const InputSpec& input : inputs) {
    shapes.push_back(input.shape);
  }
  return shapes;
}

inline RecurrentWeights weights_of(Inputs x) {
  return {x[1], x[2], x[3], x[4]};
}

/// All that an op gives for x, the weights and, where they are given, states.
using WholeOutput = Tensor (*)(Inputs x, bool has_state, bool is_reverse);
using WholeReference = Numbers (*)(std::span<const HostArray> in,
                                   bool has_state, bool is_reverse);

/// The rows that say the same of each network.
inline std::vector<OpRow> recurrent_rows(const PlainNet& net, WholeOutput whole,
                                         WholeReference reference) {
  const int states = net.has_c ? 2 : 1;
  const auto row = [&](const char* name, const PlainSequence& n, bool has_state,
                       bool is_reverse) {
    return OpRow{
        .name = name,
        .fn = [=](Inputs x) { return whole(x, has_state, is_reverse); },
        .inputs = recurrent_inputs(n, net.gates, has_state ? states : 0),
        .reference =
            [=](auto in) { return reference(in, has_state, is_reverse); }};
  };
  std::vector<OpRow> rows{row("whole", {3, 2, 3, 2}, true, false),
                          row("reverse", {3, 2, 1, 2}, true, true),
                          row("no state", {2, 1, 2, 3}, false, false),
                          row("reverse, no state", {3, 1, 1, 1}, false, true),
                          row("a step", {1, 2, 2, 2}, true, false),
                          row("wide", {4, 13, 5, 40}, true, false)};
  rows[0].zero_size = {
      shapes_of(recurrent_inputs({3, 0, 3, 2}, net.gates, states)),
      shapes_of(recurrent_inputs({3, 2, 0, 2}, net.gates, states))};
  for (std::size_t i = 1; i + 1 < rows.size(); ++i) {
    rows[i].third_derivative = false;
  }
  OpRow& wide = rows.back();
  wide.inputs[1].low = wide.inputs[2].low = -0.2;
  wide.inputs[1].high = wide.inputs[2].high = 0.2;
  wide.second_derivative = false;
  wide.f32_derivative = {1e-4, 1e-4};
  return rows;
}

/// The calls that each refuses.
inline std::vector<ErrorRow> recurrent_errors(std::int64_t gates,
                                              WholeOutput whole) {
  const auto row = [&](const char* name, std::size_t which,
                       const InputSpec& wrong, std::type_index error) {
    ErrorRow made{.name = name,
                  .fn = [=](Inputs x) { return whole(x, false, false); },
                  .inputs = recurrent_inputs({2, 3, 4, 5}, gates, 0),
                  .error = error};
    made.inputs[which] = wrong;
    return made;
  };
  const std::type_index shape = typeid(ShapeError);
  return {row("rank", 0, uniform({3, 4}, 0, 1), shape),
          row("no step", 0, uniform({0, 3, 4}, 0, 1), shape),
          row("features", 0, uniform({2, 3, 5}, 0, 1), shape),
          row("w_ih", 1, uniform({gates * 5 + 1, 4}, 0, 1), shape),
          row("w_hh", 2, uniform({gates * 5, 4}, 0, 1), shape),
          row("no unit", 2, uniform({0, 0}, 0, 1), shape),
          row("integers", 0, integers({2, 3, 4}, 0, 5).as(i32),
              typeid(DTypeError))};
}

using RecurrentCell = Tensor (*)(const Tensor& x, const Tensor& h,
                                 const RecurrentWeights& weights);

/// The table of the composite that is one step of a network with one state.
inline OpTable recurrent_cell_table(const char* name, const PlainNet& net,
                                    RecurrentCell cell) {
  const std::int64_t rows = net.gates * 2;
  auto inputs = recurrent_inputs({1, 3, 2, 2}, net.gates, 1);
  inputs[0].shape = {3, 2};
  return {
      .name = name,
      .rows = {{.name = "plain",
                .fn = [cell](
                          Inputs x) { return cell(x[0], x[5], weights_of(x)); },
                .inputs = inputs,
                .reference =
                    [net](std::span<const HostArray> in) {
                      std::vector<HostArray> all(in.begin(), in.end());
                      all[0].shape = {1, in[0].shape[0], 2};
                      Numbers y = plain(net, all, true, false);
                      y.resize(y.size() / 2);
                      return y;
                    },
                .zero_size =
                    {{{0, 2}, {rows, 2}, {rows, 2}, {rows}, {rows}, {0, 2}}}}},
      .errors = {
          {.name = "rank",
           .fn =
               [cell](Inputs x) {
                 return cell(x[0], {}, {x[1], x[2]});
               },
           .inputs = {uniform({2, 1, 1}, 0, 1), uniform({net.gates, 1}, 0, 1),
                      uniform({net.gates, 1}, 0, 1)},
           .error = typeid(ShapeError)}}};
}

}  // namespace neap::testing
