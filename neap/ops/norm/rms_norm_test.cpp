// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/rms_norm.hpp"

#include <cmath>

#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kEps = 1e-3;

// Rows of `n`; x[1], where there is one, is the weight.
std::vector<double> normed(std::span<const HostArray> x, std::size_t n,
                           double eps) {
  std::vector<double> y = x[0].values;
  for (std::size_t start = 0; n > 0 && start < y.size(); start += n) {
    double squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      squares += y[start + i] * y[start + i] / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      y[start + i] *=
          (x.size() > 1 ? x[1].values[i] : 1.0) / std::sqrt(squares + eps);
    }
  }
  return y;
}

std::vector<double> last_axis(std::span<const HostArray> x) {
  return normed(x, static_cast<std::size_t>(x[0].shape.back()), kEps);
}

Tensor weighted(Inputs x) {
  return rms_norm(x[0], {x[0].size(-1)}, x[1], kEps);
}

std::vector<OpRow> rows() {
  return {{.name = "weight",
           .fn = weighted,
           .inputs = {uniform({2, 3, 7}, -2, 2), uniform({7}, 0, 2)},
           .reference = last_axis,
           .zero_size = {{{0, 5}, {5}}, {{3, 0}, {0}}}},
          {.name = "plain",
           .fn = [](Inputs x) { return rms_norm(x[0], {6}); },
           .inputs = {uniform({4, 6}, -2, 2)},
           .reference = [](auto x) { return normed(x, 6, 0.0); },
           .f32_value = {2e-5, 1e-6},
           .f32_derivative = {1e-4, 1e-4}},
          {.name = "two axes",
           .fn =
               [](Inputs x) {
                 return rms_norm(x[0], {3, 4}, x[1], kEps);
               },
           .inputs = {uniform({2, 3, 4}, -2, 2), uniform({3, 4}, 0, 2)},
           .reference = [](auto x) { return normed(x, 12, kEps); }},
          {.name = "large",
           .fn = weighted,
           .inputs = {uniform({77, 1100}, -2, 2), uniform({1100}, 0, 2)},
           .reference = last_axis,
           .f32_value = {1e-5, 1e-5},
           .f32_derivative = {1e-4, 1e-4},
           .second_derivative = false}};
}

OpTable rms_norm_table() {
  OpTable table{.name = "rms_norm", .op = &ops::kRmsNorm, .rows = rows()};
  table.errors = {{.name = "normalized_shape",
                   .fn = [](Inputs x) { return rms_norm(x[0], {3}); },
                   .inputs = {uniform({3, 4}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "weight",
                   .fn = [](Inputs x) { return rms_norm(x[0], {4}, x[1]); },
                   .inputs = {uniform({3, 4}, 0, 1), uniform({1}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "eps",
                   .fn = [](Inputs x) { return rms_norm(x[0], {4}, {}, -1.0); },
                   .inputs = {uniform({3, 4}, 0, 1)},
                   .error = typeid(ValueError)},
                  {.name = "integers",
                   .fn = [](Inputs x) { return rms_norm(x[0], {4}); },
                   .inputs = {integers({3, 4}, 0, 5).as(i64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kRmsNormListed(rms_norm_table);

// The derivatives for dy, x and perhaps w, in rows.
struct Cotangents {
  std::vector<double> dx;
  std::vector<double> dw;
};

Cotangents rules(std::span<const HostArray> in) {
  const std::vector<double>& dy = in[0].values;
  const std::vector<double>& x = in[1].values;
  const auto n = static_cast<std::size_t>(in[1].shape.back());
  const auto length = static_cast<double>(n);
  Cotangents out{dy, std::vector<double>(n)};
  for (std::size_t start = 0; n > 0 && start < x.size(); start += n) {
    double squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      squares += x[start + i] * x[start + i] / length;
    }
    const double scale = 1.0 / std::sqrt(squares + kEps);
    double along = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double xhat = x[start + i] * scale;
      const double g = dy[start + i] * (in.size() > 2 ? in[2].values[i] : 1.0);
      out.dw[i] += dy[start + i] * xhat;
      along += g * xhat / length;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double xhat = x[start + i] * scale;
      const double g = dy[start + i] * (in.size() > 2 ? in[2].values[i] : 1.0);
      out.dx[start + i] = scale * (g - xhat * along);
    }
  }
  return out;
}

Tensor rule(Inputs x, std::size_t k) {
  const kernels::NormGradAttrs wanted{.eps = kEps, .dx = k == 0, .dw = k == 1};
  const Tensor w = x.size() > 2 ? x[2] : Tensor();
  const Tensor stats = ops::rms_norm_of(x[1], {}, kEps)[1].detach();
  return ops::rms_norm_grad(x[0], x[1], stats, w, wanted)[k];
}

OpTable rms_norm_grad_table() {
  OpTable table{.name = "rms_norm_grad", .op = &ops::kRmsNormGrad};
  table.rows = {{.name = "dx, weight",
                 .fn = [](Inputs x) { return rule(x, 0); },
                 .inputs = {uniform({2, 3, 5}, -1, 1),
                            uniform({2, 3, 5}, -2, 2), uniform({5}, 0, 2)},
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
                 .zero_size = {{{0, 5}, {0, 5}}}}};
  table.errors = {{.name = "shapes",
                   .fn =
                       [](Inputs x) {
                         return ops::rms_norm_grad(x[0], x[1], x[2], {},
                                                   {.dx = true})[0];
                       },
                   .inputs = {uniform({2, 3}, 0, 1), uniform({2, 3}, 0, 1),
                              uniform({2, 3}, 0, 1).as(f64)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kRmsNormGradListed(rms_norm_grad_table);

}  // namespace
}  // namespace neap::testing
