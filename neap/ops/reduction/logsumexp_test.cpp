// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/logsumexp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Over the middle axis of (a, b, c).
std::vector<double> over_middle(std::span<const HostArray> x) {
  const Shape& s = x[0].shape;
  std::vector<double> y;
  for (std::int64_t i = 0; i < s[0] * s[2]; ++i) {
    const auto at = [&](std::int64_t j) {
      return x[0].values[static_cast<std::size_t>((i / s[2] * s[1] + j) * s[2] +
                                                  i % s[2])];
    };
    double m = -kInfinity;
    double sum = 0.0;
    for (std::int64_t j = 0; j < s[1]; ++j) {
      m = std::max(m, at(j));
    }
    for (std::int64_t j = 0; j < s[1]; ++j) {
      sum += std::exp(at(j) - m);
    }
    y.push_back(m + std::log(sum));
  }
  return y;
}

OpTable logsumexp_table() {
  OpTable table{.name = "logsumexp", .op = &ops::kLogsumexp};
  table.rows = {
      {.name = "an axis",
       .fn = [](Inputs x) { return logsumexp(x[0], {1}); },
       .inputs = {uniform({2, 3, 4}, -3, 3)},
       .reference = over_middle,
       .shape = Shape{2, 4},
       .zero_size = {{{0, 3, 4}}}},
      {.name = "kept, from the end",
       .fn = [](Inputs x) { return logsumexp(x[0], {-2}, true); },
       .inputs = {uniform({2, 3, 1}, -3, 3)},
       .reference = over_middle,
       .shape = Shape{2, 1, 1}},
      {.name = "all",
       .fn = [](Inputs x) { return logsumexp(x[0]); },
       .inputs = {literal({2, 2}, {1000, 1000, 1000, 1000})},
       .expected = {1000 + std::log(4.0)},
       .shape = Shape{}},
      {.name = "large, by columns",
       .fn = [](Inputs x) { return logsumexp(x[0], {1}); },
       .inputs = {uniform({2, 301, 67}, -300, 300)},
       .reference = over_middle,
       .f32_derivative = {1e-3, 1e-4},
       .second_derivative = false},
      {.name = "large, by rows",
       .fn = [](Inputs x) { return logsumexp(x[0], {1}); },
       .inputs = {uniform({3, 2500, 1}, -3, 3)},
       .reference = over_middle,
       .second_derivative = false},
      {.name = "of nothing",
       .fn = [](Inputs x) { return logsumexp(x[0], {1}); },
       .inputs = {uniform({2, 1, 4}, -3, 3)},
       .reference = over_middle,
       .zero_size = {{{2, 0, 4}}},
       .differentiable = false},
      {.name = "infinities",
       .fn = [](Inputs x) { return logsumexp(x[0], {1}); },
       .inputs = {literal({4, 2}, {-kInfinity, -kInfinity, -kInfinity, 3,
                                   kInfinity, 1, std::nan(""), 1})},
       .expected = {-kInfinity, 3, kInfinity, std::nan("")},
       .differentiable = false},
      {.name = "a row of -inf has no derivative",
       .fn = [](Inputs x) { return logsumexp(x[0], {1}); },
       .inputs = {literal({2, 2}, {-kInfinity, -kInfinity, -kInfinity, 3})},
       .expected = {-kInfinity, 3},
       .expected_vjp = {{0, 0, 0, 1}},
       .expected_jvp = {0, 1},
       .smooth = false}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return logsumexp(x[0], {2}); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "integers",
                   .fn = [](Inputs x) { return logsumexp(x[0]); },
                   .inputs = {integers({2}, 0, 9).as(i64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(logsumexp_table);

}  // namespace
}  // namespace neap::testing
