// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/trigonometry.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;

// NOLINTNEXTLINE(readability-function-size): a table of rows
std::vector<OpTable> trigonometry_unary() {
  return unary_tables({
      {.name = "sin",
       .op = &ops::kSin,
       .fn = sin,
       .reference = [](double x) { return std::sin(x); },
       .domain = uniform({}, -6, 6),
       .edges = {{0, 0}, {1e6, std::sin(1e6)}, {kInf, kNaN}, {kNaN, kNaN}}},
      {.name = "cos",
       .op = &ops::kCos,
       .fn = cos,
       .reference = [](double x) { return std::cos(x); },
       .domain = uniform({}, -6, 6),
       .edges = {{0, 1}, {1e6, std::cos(1e6)}, {kInf, kNaN}, {kNaN, kNaN}}},
      {.name = "tan",
       .op = &ops::kTan,
       .fn = tan,
       .reference = [](double x) { return std::tan(x); },
       .domain = uniform({}, -1.2, 1.2),
       .edges = {{0, 0}, {1e6, std::tan(1e6)}, {kInf, kNaN}, {kNaN, kNaN}}},
      {.name = "asin",
       .op = &ops::kAsin,
       .fn = asin,
       .reference = [](double x) { return std::asin(x); },
       .domain = uniform({}, -0.9, 0.9),
       .edges = {{1, std::asin(1.0)},
                 {-1, -std::asin(1.0)},
                 {2, kNaN},
                 {kNaN, kNaN}}},
      {.name = "acos",
       .op = &ops::kAcos,
       .fn = acos,
       .reference = [](double x) { return std::acos(x); },
       .domain = uniform({}, -0.9, 0.9),
       .edges = {{1, 0}, {-1, std::acos(-1.0)}, {2, kNaN}, {kNaN, kNaN}}},
      {.name = "atan",
       .op = &ops::kAtan,
       .fn = atan,
       .reference = [](double x) { return std::atan(x); },
       .domain = uniform({}, -3, 3),
       .edges = {{0, 0},
                 {kInf, std::asin(1.0)},
                 {-kInf, -std::asin(1.0)},
                 {kNaN, kNaN}}},
      {.name = "sinh",
       .op = &ops::kSinh,
       .fn = sinh,
       .reference = [](double x) { return std::sinh(x); },
       .domain = uniform({}, -3, 3),
       .edges = {{0, 0}, {kInf, kInf}, {-kInf, -kInf}, {kNaN, kNaN}}},
      {.name = "cosh",
       .op = &ops::kCosh,
       .fn = cosh,
       .reference = [](double x) { return std::cosh(x); },
       .domain = uniform({}, -3, 3),
       .edges = {{0, 1}, {kInf, kInf}, {-kInf, kInf}, {kNaN, kNaN}}},
      {.name = "asinh",
       .op = &ops::kAsinh,
       .fn = asinh,
       .reference = [](double x) { return std::asinh(x); },
       .domain = uniform({}, -3, 3),
       .edges = {{0, 0}, {kInf, kInf}, {-kInf, -kInf}, {kNaN, kNaN}}},
      {.name = "acosh",
       .op = &ops::kAcosh,
       .fn = acosh,
       .reference = [](double x) { return std::acosh(x); },
       .domain = uniform({}, 1.2, 4),
       .edges = {{1, 0}, {0.5, kNaN}, {-2, kNaN}, {kInf, kInf}, {kNaN, kNaN}}},
      {.name = "atanh",
       .op = &ops::kAtanh,
       .fn = atanh,
       .reference = [](double x) { return std::atanh(x); },
       .domain = uniform({}, -0.9, 0.9),
       .edges = {{0, 0}, {1, kInf}, {-1, -kInf}, {2, kNaN}, {kNaN, kNaN}}},
  });
}

const Listed kUnaryListed(trigonometry_unary);

std::vector<OpTable> trigonometry_binary() {
  return binary_tables({
      {.name = "atan2",
       .op = &ops::kAtan2,
       .fn = atan2,
       .reference = [](double a, double b) { return std::atan2(a, b); },
       .a = {.low = -2.0, .high = 2.0, .avoided = {0.0}, .margin = 0.2},
       .b = {.low = -2.0, .high = 2.0, .avoided = {0.0}, .margin = 0.2},
       .edges = {{0, 0, 0},
                 {0, -1, kPi},
                 {-0.0, -1, -kPi},
                 {kInf, -kInf, 0.75 * kPi},
                 {1, 0, kPi / 2},
                 {kNaN, 1, kNaN}}},
  });
}

const Listed kBinaryListed(trigonometry_binary);

}  // namespace
}  // namespace neap::testing
