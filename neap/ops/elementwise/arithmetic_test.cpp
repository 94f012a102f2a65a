// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/arithmetic.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<OpTable> arithmetic_unary() {
  return unary_tables({
      {.name = "neg",
       .op = &ops::kNeg,
       .fn = neg,
       .reference = [](double x) { return -x; },
       .domain = uniform({}, -2, 2),
       .takes_integers = true},
      {.name = "abs",
       .op = &ops::kAbs,
       .fn = abs,
       .reference = [](double x) { return std::abs(x); },
       .domain = away_from({}, {0.0}),
       .takes_integers = true,
       .kinks = {{-1, 1, -1}, {0, 0, 0}, {2, 2, 1}},
       .edges = {{-kInf, kInf}, {-0.0, 0}, {kNaN, kNaN}}},
      {.name = "sign",
       .op = &ops::kSign,
       .fn = sign,
       .reference =
           [](double x) {
             return (x > 0.0 ? 1.0 : 0.0) - (x < 0.0 ? 1.0 : 0.0);
           },
       .domain = away_from({}, {0.0}),
       .takes_integers = true,
       .kinks = {{-3, -1, 0}, {0, 0, 0}, {2, 1, 0}}},
      {.name = "square",
       .op = &ops::kSquare,
       .fn = square,
       .reference = [](double x) { return x * x; },
       .domain = uniform({}, -2, 2),
       .takes_integers = true},
      {.name = "sqrt",
       .op = &ops::kSqrt,
       .fn = sqrt,
       .reference = [](double x) { return std::sqrt(x); },
       .domain = positive({}),
       .edges = {{0, 0}, {4, 2}, {kInf, kInf}, {-1, kNaN}}},
      {.name = "rsqrt",
       .op = &ops::kRsqrt,
       .fn = rsqrt,
       .reference = [](double x) { return 1.0 / std::sqrt(x); },
       .domain = positive({}),
       .edges = {{4, 0.5}, {0, kInf}, {kInf, 0}, {-1, kNaN}, {kNaN, kNaN}}},
      {.name = "reciprocal",
       .op = &ops::kReciprocal,
       .fn = reciprocal,
       .reference = [](double x) { return 1.0 / x; },
       .domain = positive({}),
       .edges = {{0, kInf}, {kInf, 0}, {-4, -0.25}}},
  });
}

const Listed kUnaryListed(arithmetic_unary);

std::vector<OpTable> arithmetic_binary() {
  return binary_tables({
      {.name = "add",
       .op = &ops::kAdd,
       .fn = add,
       .reference = [](double a, double b) { return a + b; },
       .a = uniform({}, -2, 2),
       .b = uniform({}, -2, 2),
       .takes_integers = true},
      {.name = "sub",
       .op = &ops::kSub,
       .fn = sub,
       .reference = [](double a, double b) { return a - b; },
       .a = uniform({}, -2, 2),
       .b = uniform({}, -2, 2),
       .takes_integers = true},
      {.name = "mul",
       .op = &ops::kMul,
       .fn = mul,
       .reference = [](double a, double b) { return a * b; },
       .a = uniform({}, -2, 2),
       .b = uniform({}, -2, 2),
       .takes_integers = true},
      {.name = "div",
       .op = &ops::kDiv,
       .fn = div,
       .reference = [](double a, double b) { return a / b; },
       .a = uniform({}, -2, 2),
       .b = positive({}),
       .edges = {{1, 0, kInf}, {0, 0, kNaN}, {-1, kInf, 0}}},
  });
}

const Listed kBinaryListed(arithmetic_binary);

}  // namespace
}  // namespace neap::testing
