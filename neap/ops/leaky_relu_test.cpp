// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/leaky_relu.hpp"

#include <limits>

#include "neap/kernels/activation_attrs.hpp"
#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double usual(double x) {
  return x > 0.0 ? x : 0.01 * x;
}

OpTable leaky_relu_table() {
  OpTable table =
      unary_table({.name = "leaky_relu",
                   .op = &ops::kLeakyRelu,
                   .fn = [](const Operand& x) { return leaky_relu(x); },
                   .reference = usual,
                   .domain = away_from({}, {0.0})});
  // The plain form, recorded too: leaky_relu() itself never does that.
  OpRow plain = table.rows[0];
  plain.name = "plain form";
  plain.fn = [](Inputs x) {
    return graph::apply(ops::kLeakyRelu, {x[0]}, kernels::SlopeAttrs{0.01});
  };
  table.rows.push_back(plain);
  OpRow negative = table.rows[0];
  negative.name = "negative slope";
  negative.fn = [](Inputs x) { return leaky_relu(x[0], -0.5); };
  negative.reference = each([](double x) { return x > 0.0 ? x : -0.5 * x; });
  table.rows.push_back(negative);
  const OpFunction quarter = [](Inputs x) { return leaky_relu(x[0], 0.25); };
  table.rows.push_back(kink_row(quarter, {literal({3}, {-1, 0, 2})},
                                {-0.25, 0, 2}, {{0.25, 0.25, 1}},
                                {0.25, 0.25, 1}));
  table.rows.push_back(value_row("edges", quarter,
                                 {literal({3}, {-kInf, kInf, kNaN})},
                                 {-kInf, kInf, kNaN}));
  return table;
}

const Listed kListed(leaky_relu_table);

}  // namespace
}  // namespace neap::testing
