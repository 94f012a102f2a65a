// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/relu.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The plain form, recorded too: relu() itself never does that.
OpRow plain_form() {
  return {.name = "plain form",
          .fn = [](Inputs x) { return graph::apply(ops::kRelu, {x[0]}); },
          .inputs = {away_from({3, 5}, {0.0})},
          .reference = each([](double x) { return std::max(x, 0.0); })};
}

OpTable relu_table() {
  OpTable table =
      unary_table({.name = "relu",
                   .op = &ops::kRelu,
                   .fn = relu,
                   .reference = [](double x) { return std::max(x, 0.0); },
                   .domain = away_from({}, {0.0})});
  table.rows.push_back(plain_form());
  table.rows.push_back(kink_row([](Inputs x) { return relu(x[0]); },
                                {literal({4}, {-1, 0, -0.0, 2})}, {0, 0, 0, 2},
                                {{0, 0, 0, 1}}, {0, 0, 0, 1}));
  table.rows.push_back(value_row("edges", [](Inputs x) { return relu(x[0]); },
                                 {literal({3}, {-kInf, kInf, kNaN})},
                                 {0, kInf, kNaN}));
  return table;
}

const Listed kListed(relu_table);

}  // namespace
}  // namespace neap::testing
