// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/activation/parametric.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable elu_table() {
  OpTable table = unary_table(
      {.name = "elu",
       .op = &ops::kElu,
       .fn = [](const TensorOperand& x) { return elu(x); },
       .reference = [](double x) { return x > 0.0 ? x : std::expm1(x); },
       .domain = away_from({}, {0.0})});
  OpRow scaled = table.rows[0];
  scaled.name = "alpha";
  scaled.fn = [](Inputs x) { return elu(x[0], 0.75); };
  scaled.reference =
      each([](double x) { return x > 0.0 ? x : 0.75 * std::expm1(x); });
  table.rows.push_back(scaled);
  table.rows.push_back(kink_row([](Inputs x) { return elu(x[0], 0.5); },
                                {literal({2}, {0, 2})}, {0, 2}, {{0.5, 1}},
                                {0.5, 1}));
  table.rows.push_back(value_row("edges", [](Inputs x) { return elu(x[0]); },
                                 {literal({4}, {-kInf, -1000, kInf, kNaN})},
                                 {-1, -1, kInf, kNaN}));
  table.errors.push_back({.name = "alpha",
                          .fn = [](Inputs x) { return elu(x[0], -1.0); },
                          .inputs = {uniform({3}, 0, 1)},
                          .error = typeid(ValueError)});
  return table;
}

const Listed kEluListed(elu_table);

OpTable softplus_table() {
  OpTable table = unary_table(
      {.name = "softplus",
       .op = &ops::kSoftplus,
       .fn = [](const TensorOperand& x) { return softplus(x); },
       .reference = [](double x) { return std::log1p(std::exp(x)); },
       .domain = uniform({}, -3, 3)});
  InputSpec around = uniform({3, 5}, -3, 3);
  around.avoided = {1.5};
  table.rows.push_back({.name = "beta and threshold",
                        .fn = [](Inputs x) { return softplus(x[0], 2, 3); },
                        .inputs = {around},
                        .reference = each([](double x) {
                          return 2 * x > 3 ? x
                                           : std::log1p(std::exp(2 * x)) / 2;
                        })});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return softplus(x[0]); },
                {literal({6}, {-kInf, -1000, 21, 1000, kInf, kNaN})},
                {0, 0, 21, 1000, kInf, kNaN}));
  table.errors.push_back({.name = "beta",
                          .fn = [](Inputs x) { return softplus(x[0], 0.0); },
                          .inputs = {uniform({3}, 0, 1)},
                          .error = typeid(ValueError)});
  return table;
}

const Listed kSoftplusListed(softplus_table);

}  // namespace
}  // namespace neap::testing
