// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/gelu.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable gelu_table() {
  OpTable table = unary_table(
      {.name = "gelu",
       .op = &ops::kGelu,
       .fn = [](const Operand& x) { return gelu(x); },
       .reference =
           [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); },
       .domain = uniform({}, -3, 3)});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return gelu(x[0]); },
                {literal({6}, {-kInf, -50, 0, 50, kInf, kNaN})},
                {0, 0, 0, 50, kInf, kNaN}));
  return table;
}

const Listed kExactListed(gelu_table);

OpTable gelu_tanh_table() {
  OpTable table = unary_table(
      {.name = "gelu_tanh",
       .op = &ops::kGeluTanh,
       .fn = [](const Operand& x) { return gelu(x, GeluForm::kTanh); },
       .reference =
           [](double x) {
             const double u = std::sqrt(2.0 / 3.14159265358979323846) *
                              (x + 0.044715 * x * x * x);
             return 0.5 * x * (1.0 + std::tanh(u));
           },
       .domain = uniform({}, -3, 3)});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return gelu(x[0], GeluForm::kTanh); },
                {literal({6}, {-kInf, -50, 0, 50, kInf, kNaN})},
                {0, 0, 0, 50, kInf, kNaN}));
  for (ErrorRow& row : table.errors) {
    row.says = "gelu_tanh:";
  }
  return table;
}

const Listed kTanhListed(gelu_tanh_table);

}  // namespace
}  // namespace neap::testing
