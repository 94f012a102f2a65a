// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/layer_norm_grad.hpp"

#include <cmath>

#include "neap/ops/norm/layer_norm.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kEps = 1e-3;

// Of dy, x and perhaps w, in rows: dx, dw and db.
struct Cotangents {
  std::vector<double> dx;
  std::vector<double> dw;
  std::vector<double> db;
};

Cotangents rules(std::span<const HostArray> in) {
  const std::vector<double>& dy = in[0].values;
  const std::vector<double>& x = in[1].values;
  const auto n = static_cast<std::size_t>(in[1].shape.back());
  const auto length = static_cast<double>(n);
  Cotangents out{dy, std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t start = 0; n > 0 && start < x.size(); start += n) {
    double mean = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      mean += x[start + i] / length;
    }
    double squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      squares += (x[start + i] - mean) * (x[start + i] - mean) / length;
    }
    const double scale = 1.0 / std::sqrt(squares + kEps);
    double mean_g = 0.0;
    double along = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double xhat = (x[start + i] - mean) * scale;
      const double g = dy[start + i] * (in.size() > 2 ? in[2].values[i] : 1.0);
      out.dw[i] += dy[start + i] * xhat;
      out.db[i] += dy[start + i];
      mean_g += g / length;
      along += g * xhat / length;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double xhat = (x[start + i] - mean) * scale;
      const double g = dy[start + i] * (in.size() > 2 ? in[2].values[i] : 1.0);
      out.dx[start + i] = scale * (g - mean_g - xhat * along);
    }
  }
  return out;
}

Tensor rule(Inputs x, std::size_t k) {
  const kernels::NormGradAttrs wanted{
      .eps = kEps, .dx = k == 0, .dw = k == 1, .db = k == 2};
  const Tensor w = x.size() > 2 ? x[2] : Tensor();
  const Tensor stats = ops::layer_norm_of(x[1], {}, {}, kEps)[1].detach();
  return ops::layer_norm_grad(x[0], x[1], stats, w, wanted)[k];
}

OpTable layer_norm_grad_table() {
  OpTable table{.name = "layer_norm_grad", .op = &ops::kLayerNormGrad};
  table.rows = {
      {.name = "dx, weight",
       .fn = [](Inputs x) { return rule(x, 0); },
       .inputs = {uniform({2, 3, 5}, -1, 1), uniform({2, 3, 5}, -2, 2),
                  uniform({5}, 0, 2)},
       .reference = [](auto x) { return rules(x).dx; },
       .zero_size = {{{0, 5}, {0, 5}, {5}}, {{2, 0}, {2, 0}, {0}}}},
      {.name = "dx",
       .fn = [](Inputs x) { return rule(x, 0); },
       .inputs = {uniform({4, 6}, -1, 1), uniform({4, 6}, -2, 2)},
       .reference = [](auto x) { return rules(x).dx; }},
      {.name = "dw",
       .fn = [](Inputs x) { return rule(x, 1); },
       .inputs = {uniform({4, 6}, -1, 1), uniform({4, 6}, -2, 2)},
       .reference = [](auto x) { return rules(x).dw; },
       .zero_size = {{{0, 5}, {0, 5}}}},
      {.name = "db",
       .fn = [](Inputs x) { return rule(x, 2); },
       .inputs = {uniform({4, 6}, -1, 1), uniform({4, 6}, -2, 2).constant()},
       .reference = [](auto x) { return rules(x).db; }}};
  table.errors = {{.name = "shapes",
                   .fn =
                       [](Inputs x) {
                         return ops::layer_norm_grad(x[0], x[1], x[2], {},
                                                     {.dx = true})[0];
                       },
                   .inputs = {uniform({2, 3}, 0, 1), uniform({2, 3}, 0, 1),
                              uniform({2, 3}, 0, 1).as(f64)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(layer_norm_grad_table);

}  // namespace
}  // namespace neap::testing
