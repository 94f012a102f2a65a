// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/exponential.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// NOLINTNEXTLINE(readability-function-size): a table of rows
std::vector<OpTable> exponential_unary() {
  return unary_tables({
      {.name = "exp",
       .op = &ops::kExp,
       .fn = exp,
       .reference = [](double x) { return std::exp(x); },
       .domain = uniform({}, -2, 2),
       .edges = {{0, 1}, {-kInf, 0}, {kInf, kInf}, {kNaN, kNaN}}},
      {.name = "expm1",
       .op = &ops::kExpm1,
       .fn = expm1,
       .reference = [](double x) { return std::expm1(x); },
       .domain = uniform({}, -2, 2),
       .edges =
           {{0, 0}, {1e-20, 1e-20}, {kInf, kInf}, {-kInf, -1}, {kNaN, kNaN}}},
      {.name = "log",
       .op = &ops::kLog,
       .fn = log,
       .reference = [](double x) { return std::log(x); },
       .domain = positive({}),
       .edges = {{1, 0}, {0, -kInf}, {kInf, kInf}, {-1, kNaN}, {kNaN, kNaN}}},
      {.name = "log1p",
       .op = &ops::kLog1p,
       .fn = log1p,
       .reference = [](double x) { return std::log1p(x); },
       .domain = uniform({}, -0.8, 3),
       .edges = {{0, 0},
                 {1e-20, 1e-20},
                 {-1, -kInf},
                 {kInf, kInf},
                 {-2, kNaN},
                 {kNaN, kNaN}}},
      {.name = "log2",
       .op = &ops::kLog2,
       .fn = log2,
       .reference = [](double x) { return std::log2(x); },
       .domain = positive({}),
       .edges = {{1, 0},
                 {8, 3},
                 {0, -kInf},
                 {kInf, kInf},
                 {-1, kNaN},
                 {kNaN, kNaN}}},
      {.name = "log10",
       .op = &ops::kLog10,
       .fn = log10,
       .reference = [](double x) { return std::log10(x); },
       .domain = positive({}),
       .edges = {{1, 0},
                 {1000, 3},
                 {0, -kInf},
                 {kInf, kInf},
                 {-1, kNaN},
                 {kNaN, kNaN}}},
      {.name = "erf",
       .op = &ops::kErf,
       .fn = erf,
       .reference = [](double x) { return std::erf(x); },
       .domain = uniform({}, -3, 3),
       .edges = {{0, 0}, {kInf, 1}, {-kInf, -1}, {kNaN, kNaN}}},
      {.name = "erfc",
       .op = &ops::kErfc,
       .fn = erfc,
       .reference = [](double x) { return std::erfc(x); },
       .domain = uniform({}, -3, 3),
       .edges =
           {{0, 1}, {8, std::erfc(8.0)}, {kInf, 0}, {-kInf, 2}, {kNaN, kNaN}}},
      {.name = "gaussian",
       .op = &ops::kGaussian,
       .fn = gaussian,
       .reference = [](double x) { return std::exp(-x * x); },
       .domain = uniform({}, -2, 2),
       .edges =
           {{0, 1}, {9, std::exp(-81.0)}, {kInf, 0}, {-kInf, 0}, {kNaN, kNaN}}},
  });
}

const Listed kUnaryListed(exponential_unary);

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

const Listed kPowListed(pow_table);

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

double density(double x, double mean, double d) {
  const double z = (x - mean) / d;
  return std::exp(-z * z / 2) / (d * std::sqrt(2 * std::numbers::pi));
}

std::vector<double> reference(std::span<const HostArray> in) {
  std::vector<double> out;
  for (std::size_t i = 0; i < in[0].values.size(); ++i) {
    const std::size_t k = i % in[1].values.size();  // by the last axis
    out.push_back(density(in[0].values[i], in[1].values[k], in[2].values[k]));
  }
  return out;
}

OpTable normal_pdf_table() {
  return {
      .name = "normal_pdf",
      .rows = {{.name = "standard",
                .fn = [](Inputs x) { return normal_pdf(x[0]); },
                .inputs = {uniform({3, 4}, -2, 2)},
                .reference = each([](double x) { return density(x, 0, 1); }),
                .zero_size = {{{0, 4}}}},
               {.name = "numbers",
                .fn = [](Inputs x) { return normal_pdf(x[0], 0.5, 2); },
                .inputs = {uniform({5}, -2, 2)},
                .reference = each([](double x) { return density(x, 0.5, 2); })},
               {.name = "tensors",
                .fn = [](Inputs x) { return normal_pdf(x[0], x[1], x[2]); },
                .inputs = {uniform({2, 3}, -1, 1), uniform({3}, -1, 1),
                           uniform({3}, 0.5, 2)},
                .reference = reference}},
      .errors = {{.name = "deviation 0",
                  .fn = [](Inputs x) { return normal_pdf(x[0], 0, 0); },
                  .inputs = {uniform({2}, -1, 1)},
                  .error = typeid(ValueError)},
                 {.name = "shapes",
                  .fn = [](Inputs x) { return normal_pdf(x[0], x[1]); },
                  .inputs = {uniform({2}, -1, 1), uniform({3}, -1, 1)},
                  .error = typeid(ShapeError),
                  .says = "sub:"}}};
}

const Listed kNormalPdfListed(normal_pdf_table);

}  // namespace
}  // namespace neap::testing
