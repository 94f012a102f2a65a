// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/norm.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Over the middle axis of (a, b, c).
Reference over_middle(double p) {
  return [=](std::span<const HostArray> x) {
    const Shape& s = x[0].shape;
    std::vector<double> y;
    for (std::int64_t i = 0; i < s[0] * s[2]; ++i) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < s[1]; ++j) {
        const double size = std::abs(x[0].values[static_cast<std::size_t>(
            (i / s[2] * s[1] + j) * s[2] + i % s[2])]);
        sum = p == kInfinity ? std::max(sum, size) : sum + std::pow(size, p);
      }
      y.push_back(p == kInfinity ? sum : std::pow(sum, 1.0 / p));
    }
    return y;
  };
}

OpRow row_of(const std::string& name, double p, const Shape& shape) {
  return {.name = name,
          .fn = [p](Inputs x) { return norm(x[0], p, {1}); },
          .inputs = {away_from(shape, {0})},
          .reference = over_middle(p),
          .shape = Shape{shape[0], shape[2]},
          .f32_value = {1e-5, 1e-5}};
}

std::vector<OpRow> literal_rows() {
  return {{.name = "2 of all",
           .fn = [](Inputs x) { return norm(x[0]); },
           .inputs = {literal({2, 2}, {1, -4, 2, 2})},
           .expected = {5},
           .shape = Shape{}},
          {.name = "2, kept, huge and tiny",
           .fn = [](Inputs x) { return norm(x[0], 2, {-1}, true); },
           .inputs = {literal({2, 2}, {0x3p90, 0x4p90, 0x3p-80, 0x4p-80})},
           .expected = {0x5p90, 0x5p-80},
           .shape = Shape{2, 1},
           .differentiable = false},
          {.name = "2 of zeros",
           .fn = [](Inputs x) { return norm(x[0], 2, {1}); },
           .inputs = {literal({2, 4}, {0, 0, 0, 0, 1, -1, 1, 1})},
           .expected = {0, 2},
           .expected_vjp = {{0, 0, 0, 0, 0.5, -0.5, 0.5, 0.5}},
           .expected_jvp = {0, 1},
           .smooth = false},
          {.name = "1 at zero",
           .fn = [](Inputs x) { return norm(x[0], 1, {1}); },
           .inputs = {literal({2, 2}, {0, -2, 3, 0})},
           .expected = {2, 3},
           .expected_vjp = {{0, -1, 1, 0}},
           .expected_jvp = {-1, 1},
           .smooth = false},
          {.name = "inf, equal largest",
           .fn = [](Inputs x) { return norm(x[0], kInfinity, {1}); },
           .inputs = {literal({2, 2}, {2, -2, 3, 0})},
           .expected = {2, 3},
           .expected_vjp = {{0.5, -0.5, 1, 0}},
           .expected_jvp = {0, 1},
           .smooth = false},
          {.name = "-inf, equal smallest",
           .fn = [](Inputs x) { return norm(x[0], -kInfinity, {1}); },
           .inputs = {literal({2, 3}, {2, -2, 3, -1, 4, 5})},
           .expected = {2, 1},
           .expected_vjp = {{0.5, -0.5, 0, -1, 0, 0}},
           .expected_jvp = {0, -1},
           .smooth = false},
          {.name = "0",
           .fn = [](Inputs x) { return norm(x[0], 0, {1}); },
           .inputs = {literal({2, 3}, {0, -2, 3, 0, 0, 5})},
           .expected = {2, 1},
           .expected_vjp = {{0, 0, 0, 0, 0, 0}},
           .smooth = false}};
}

OpTable norm_table() {
  OpTable table{.name = "norm", .op = &ops::kNorm};
  table.rows = {row_of("1", 1, {2, 3, 4}), row_of("2", 2, {2, 3, 4}),
                row_of("inf", kInfinity, {2, 3, 4}),
                row_of("1, large", 1, {2, 1500, 3}),
                row_of("2, large", 2, {2, 1500, 3})};
  table.rows[1].zero_size = {{{2, 0, 4}}, {{0, 3, 4}}};
  table.rows[3].second_derivative = false;
  table.rows[4].second_derivative = false;
  const std::vector<OpRow> more = literal_rows();
  table.rows.insert(table.rows.end(), more.begin(), more.end());
  table.errors = {{.name = "p",
                   .fn = [](Inputs x) { return norm(x[0], std::nan("")); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ValueError)},
                  {.name = "axis",
                   .fn = [](Inputs x) { return norm(x[0], 2, {2}); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "integers",
                   .fn = [](Inputs x) { return norm(x[0]); },
                   .inputs = {integers({2}, 0, 9).as(i64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(norm_table);

// By powers: any other p.
OpTable power_norm_table() {
  const auto at_zero = [](const char* name, double p) {
    return OpRow{.name = name,
                 .fn = [p](Inputs x) { return norm(x[0], p, {1}); },
                 .inputs = {literal({2, 2}, {0, 0, 1, 0})},
                 .expected = {0, 1},
                 .expected_vjp = {{0, 0, 1, 0}},
                 .expected_jvp = {0, 1},
                 .smooth = false};
  };
  OpTable table{.name = "norm, other p"};
  table.rows = {row_of("3", 3, {2, 3, 4}), row_of("1.5", 1.5, {2, 3, 4}),
                at_zero("3 at zero", 3), at_zero("0.5 at zero", 0.5)};
  table.rows[0].zero_size = {{{2, 0, 4}}, {{0, 3, 4}}};
  return table;
}

const Listed kPowerListed(power_norm_table);

}  // namespace
}  // namespace neap::testing
