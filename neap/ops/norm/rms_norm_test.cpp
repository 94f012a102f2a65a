// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/rms_norm.hpp"

#include <cmath>

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

const Listed kListed(rms_norm_table);

}  // namespace
}  // namespace neap::testing
