// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/layer_norm.hpp"

#include <cmath>

#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Rows of `n`; x[1] and x[2], where there are any, are weight and bias.
std::vector<double> normed(std::span<const HostArray> x, std::size_t n) {
  std::vector<double> y = x[0].values;
  for (std::size_t start = 0; n > 0 && start < y.size(); start += n) {
    double mean = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      mean += x[0].values[start + i] / static_cast<double>(n);
    }
    double var = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double from = x[0].values[start + i] - mean;
      var += from * from / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double xhat = (y[start + i] - mean) / std::sqrt(var + 1e-5);
      y[start + i] = xhat * (x.size() > 1 ? x[1].values[i] : 1.0) +
                     (x.size() > 2 ? x[2].values[i] : 0.0);
    }
  }
  return y;
}

std::vector<double> last_axis(std::span<const HostArray> x) {
  return normed(x, static_cast<std::size_t>(x[0].shape.back()));
}

Tensor affine(Inputs x) {
  return layer_norm(x[0], {x[0].size(-1)}, x[1], x[2]);
}

std::vector<OpRow> rows() {
  return {
      {.name = "affine",
       .fn = affine,
       .inputs = {uniform({2, 3, 7}, -2, 2), uniform({7}, 0, 2),
                  uniform({7}, -1, 1)},
       .reference = last_axis,
       .zero_size = {{{0, 5}, {5}, {5}}, {{3, 0}, {0}, {0}}}},
      {.name = "weight",
       .fn = [](Inputs x) { return layer_norm(x[0], {6}, x[1]); },
       .inputs = {uniform({4, 6}, 3, 5), uniform({6}, 0, 2)},
       .reference = last_axis},
      {.name = "plain, one row",
       .fn = [](Inputs x) { return layer_norm(x[0], {9}); },
       .inputs = {uniform({9}, -1, 1)},
       .reference = last_axis},
      {.name = "two axes",
       .fn =
           [](Inputs x) {
             return layer_norm(x[0], {3, 4}, x[1], x[2]);
           },
       .inputs = {uniform({2, 3, 4}, -2, 2), uniform({3, 4}, 0, 2),
                  uniform({3, 4}, -1, 1)},
       .reference = [](auto x) { return normed(x, 12); }},
      {.name = "bias alone",
       .fn = [](Inputs x) { return layer_norm(x[0], {5}, {}, x[1]); },
       .inputs = {uniform({3, 5}, -2, 2), uniform({5}, -1, 1)},
       .reference =
           [](std::span<const HostArray> x) {
             const HostArray ones{Shape{5}, std::vector<double>(5, 1.0)};
             const std::array all{x[0], ones, x[1]};
             return normed(all, 5);
           }},
      {.name = "large",
       .fn = affine,
       .inputs = {uniform({77, 1100}, -2, 2), uniform({1100}, 0, 2),
                  uniform({1100}, -1, 1)},
       .reference = last_axis,
       .f32_value = {1e-5, 1e-5},
       .f32_derivative = {1e-4, 1e-4},
       .second_derivative = false},
  };
}

OpTable layer_norm_table() {
  OpTable table{.name = "layer_norm", .op = &ops::kLayerNorm, .rows = rows()};
  table.errors = {
      {.name = "normalized_shape",
       .fn = [](Inputs x) { return layer_norm(x[0], {3}); },
       .inputs = {uniform({3, 4}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "no axes",
       .fn = [](Inputs x) { return layer_norm(x[0], {}); },
       .inputs = {uniform({3, 4}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "weight",
       .fn = [](Inputs x) { return layer_norm(x[0], {4}, x[1]); },
       .inputs = {uniform({3, 4}, 0, 1), uniform({3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "eps",
       .fn = [](Inputs x) { return layer_norm(x[0], {4}, {}, {}, -1.0); },
       .inputs = {uniform({3, 4}, 0, 1)},
       .error = typeid(ValueError)},
      {.name = "integers",
       .fn = [](Inputs x) { return layer_norm(x[0], {4}); },
       .inputs = {integers({3, 4}, 0, 5).as(i32)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kLayerNormListed(layer_norm_table);

constexpr double kEps = 1e-3;

// The derivatives for dy, x and perhaps w, in rows.
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

const Listed kLayerNormGradListed(layer_norm_grad_table);

}  // namespace
}  // namespace neap::testing
