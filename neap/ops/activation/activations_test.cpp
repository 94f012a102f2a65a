// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/activation/activations.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// NOLINTNEXTLINE(readability-function-size): a table of rows
std::vector<OpTable> activations_unary() {
  return unary_tables({
      {.name = "sigmoid",
       .op = &ops::kSigmoid,
       .fn = sigmoid,
       .reference = [](double x) { return 1.0 / (1.0 + std::exp(-x)); },
       .domain = uniform({}, -3, 3),
       .edges = {{0, 0.5}, {-1000, 0}, {1000, 1}, {-kInf, 0}, {kInf, 1}}},
      {.name = "tanh",
       .op = &ops::kTanh,
       .fn = tanh,
       .reference = [](double x) { return std::tanh(x); },
       .domain = uniform({}, -2, 2),
       .edges = {{0, 0}, {-1000, -1}, {1000, 1}, {-kInf, -1}, {kInf, 1}}},
      {.name = "log_sigmoid",
       .op = &ops::kLogSigmoid,
       .fn = log_sigmoid,
       .reference = [](double x) { return -std::log1p(std::exp(-x)); },
       .domain = uniform({}, -3, 3),
       .edges = {{-kInf, -kInf},
                 {-1000, -1000},
                 {1000, 0},
                 {kInf, 0},
                 {kNaN, kNaN}}},
      {.name = "silu",
       .op = &ops::kSilu,
       .fn = silu,
       .reference = [](double x) { return x / (1.0 + std::exp(-x)); },
       .domain = uniform({}, -3, 3),
       .edges = {{-kInf, 0},
                 {-1000, 0},
                 {0, 0},
                 {1000, 1000},
                 {kInf, kInf},
                 {kNaN, kNaN}}},
      {.name = "mish",
       .op = &ops::kMish,
       .fn = mish,
       .reference =
           [](double x) { return x * std::tanh(std::log1p(std::exp(x))); },
       .domain = uniform({}, -3, 3),
       .edges = {{-kInf, 0},
                 {-1000, 0},
                 {0, 0},
                 {1000, 1000},
                 {kInf, kInf},
                 {kNaN, kNaN}}},
      {.name = "hard_swish",
       .op = &ops::kHardSwish,
       .fn = hard_swish,
       .reference =
           [](double x) {
             return x <= -3.0 ? 0.0 : x >= 3.0 ? x : x * (x + 3.0) / 6.0;
           },
       .domain = {.low = -5, .high = 5, .avoided = {-3, 3}},
       .kinks = {{-4, 0, 0}, {-3, 0, 0}, {0, 0, 0.5}, {3, 3, 1}, {4, 4, 1}},
       .edges = {{-kInf, 0},
                 {-1000, 0},
                 {-0.0, 0},
                 {0, 0},
                 {1e38, 1e38},
                 {kInf, kInf},
                 {kNaN, kNaN}}},
      {.name = "gelu",
       .op = &ops::kGelu,
       .fn = [](const TensorOperand& x) { return gelu(x); },
       .reference =
           [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); },
       .domain = uniform({}, -3, 3),
       .edges = {{-kInf, 0},
                 {-50, 0},
                 {0, 0},
                 {50, 50},
                 {kInf, kInf},
                 {kNaN, kNaN}}},
      {.name = "gelu_tanh",
       .op = &ops::kGeluTanh,
       .fn = [](const TensorOperand& x) { return gelu(x, GeluForm::kTanh); },
       .reference =
           [](double x) {
             const double u = std::sqrt(2.0 / kPi) * (x + 0.044715 * x * x * x);
             return 0.5 * x * (1.0 + std::tanh(u));
           },
       .domain = uniform({}, -3, 3),
       .edges = {{-kInf, 0},
                 {-50, 0},
                 {0, 0},
                 {50, 50},
                 {kInf, kInf},
                 {kNaN, kNaN}}},
  });
}

const Listed kUnaryListed(activations_unary);

OpTable softsign_table() {
  OpTable table = unary_table(
      {.name = "softsign",
       .fn = softsign,
       .reference = [](double x) { return x / (1.0 + std::abs(x)); },
       .domain = away_from({}, {0.0})});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return softsign(x[0]); },
                {literal({4}, {-3, 0, 1, kNaN})}, {-0.75, 0, 0.5, kNaN}));
  for (ErrorRow& row : table.errors) {
    row.says = "div:";
  }
  return table;
}

const Listed kSoftsignListed(softsign_table);

}  // namespace
}  // namespace neap::testing
