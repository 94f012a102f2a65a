// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/pow.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable pow_table() {
  OpTable table = binary_table(
      {.name = "pow",
       .op = &ops::kPow,
       .fn = pow,
       .reference = [](double a, double b) { return std::pow(a, b); },
       .a = positive({}),
       .b = uniform({}, -2, 2)});
  table.rows.push_back({.name = "number as exponent",
                        .fn = [](Inputs x) { return pow(x[0], 3); },
                        .inputs = {away_from({3, 5}, {0.0})},
                        .reference = each([](double x) { return x * x * x; })});
  table.rows.push_back(
      {.name = "number as base",
       .fn = [](Inputs x) { return pow(2, x[0]); },
       .inputs = {uniform({3, 5}, -2, 2)},
       .reference = each([](double x) { return std::exp2(x); })});
  // 0^0, 0^2, 0^1, (-2)^3, (-2)^0: by the base b a^(b - 1), by the exponent
  // y ln a.
  OpRow kink = kink_row([](Inputs x) { return pow(x[0], x[1]); },
                        {literal({3}, {0, 0, 0}), literal({3}, {0, 2, 1})},
                        {1, 0, 0}, {{0, 0, 1}, {0, 0, 0}}, {0, 0, 1});
  table.rows.push_back(kink);
  OpRow negative = kink_row(
      [](Inputs x) { return pow(x[0], x[1]); },
      {literal({3}, {-2, -2, -1}), literal({3}, {3, 0, -1}).constant()},
      {-8, 1, -1}, {{12, 0, -1}}, {12, 0, -1});
  negative.name = "negative base";
  table.rows.push_back(negative);
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return pow(x[0], x[1]); },
                {literal({8}, {-8, 0, 0, 1, kNaN, -1, kInf, 0.5}),
                 literal({8}, {0.5, -1, 3, kNaN, 0, kInf, -1, -kInf})},
                {kNaN, kInf, 0, 1, 1, 1, 0, kInf}));
  return table;
}

const Listed kListed(pow_table);

// Exponents that are other ops.
OpTable special_table() {
  const auto row = [](const char* name, OpFunction fn, Reference reference) {
    return OpRow{.name = name,
                 .fn = std::move(fn),
                 .inputs = {positive({3, 5})},
                 .reference = std::move(reference),
                 .zero_size = {{{0, 4}}}};
  };
  return {.name = "pow, special exponents",
          .rows = {row(
                       "2", [](Inputs x) { return pow(x[0], 2); },
                       each([](double x) { return x * x; })),
                   row(
                       "0.5", [](Inputs x) { return pow(x[0], 0.5); },
                       each([](double x) { return std::sqrt(x); })),
                   row(
                       "-0.5", [](Inputs x) { return pow(x[0], -0.5); },
                       each([](double x) { return 1.0 / std::sqrt(x); })),
                   row(
                       "-1", [](Inputs x) { return pow(x[0], -1); },
                       each([](double x) { return 1.0 / x; }))}};
}

const Listed kSpecialListed(special_table);

}  // namespace
}  // namespace neap::testing
