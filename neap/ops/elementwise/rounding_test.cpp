// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/rounding.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<OpTable> rounding_unary() {
  return unary_tables({
      {.name = "ceil",
       .op = &ops::kCeil,
       .fn = ceil,
       .reference = [](double x) { return std::ceil(x); },
       .domain = {.low = -2.4, .high = 2.4, .avoided = {-2, -1, 0, 1, 2}},
       .kinks = {{-1.5, -1, 0}, {1, 1, 0}, {2.1, 3, 0}},
       .edges = {{1e30, 1e30}, {kInf, kInf}, {-kInf, -kInf}, {kNaN, kNaN}}},
      {.name = "floor",
       .op = &ops::kFloor,
       .fn = floor,
       .reference = [](double x) { return std::floor(x); },
       .domain = {.low = -2.4, .high = 2.4, .avoided = {-2, -1, 0, 1, 2}},
       .kinks = {{-1.5, -2, 0}, {1, 1, 0}, {2.1, 2, 0}},
       .edges = {{1e30, 1e30}, {kInf, kInf}, {-kInf, -kInf}, {kNaN, kNaN}}},
      {.name = "round",
       .op = &ops::kRound,
       .fn = round,
       .reference = [](double x) { return std::nearbyint(x); },
       .domain = {.low = -2.4, .high = 2.4, .avoided = {-1.5, -0.5, 0.5, 1.5}},
       .kinks = {{-1.5, -2, 0}, {0.5, 0, 0}, {2.5, 2, 0}},
       .edges = {{1e30, 1e30}, {kInf, kInf}, {-kInf, -kInf}, {kNaN, kNaN}}},
      {.name = "trunc",
       .op = &ops::kTrunc,
       .fn = trunc,
       .reference = [](double x) { return std::trunc(x); },
       .domain = {.low = -2.4, .high = 2.4, .avoided = {-2, -1, 0, 1, 2}},
       .kinks = {{-1.5, -1, 0}, {1, 1, 0}, {2.9, 2, 0}},
       .edges = {{1e30, 1e30}, {kInf, kInf}, {-kInf, -kInf}, {kNaN, kNaN}}},
  });
}

const Listed kUnaryListed(rounding_unary);

std::vector<OpTable> rounding_binary() {
  return binary_tables({
      {.name = "fmod",
       .op = &ops::kFmod,
       .fn = fmod,
       .reference = [](double a, double b) { return std::fmod(a, b); },
       .a = uniform({}, 5.1, 5.6),
       .b = uniform({}, 2.0, 2.5),
       .edges = {{7, 2, 1},
                 {-7, 2, -1},
                 {7, -2, 1},
                 {-7, -2, -1},
                 {1, 0, kNaN},
                 {kInf, 1, kNaN},
                 {3, kInf, 3},
                 {4, 2, 0}}},
      {.name = "remainder",
       .op = &ops::kRemainder,
       .fn = remainder,
       .reference = [](double a,
                       double b) { return a - b * std::floor(a / b); },
       .a = uniform({}, 5.1, 5.6),
       .b = uniform({}, 2.0, 2.5),
       .edges = {{7, 2, 1},
                 {-7, 2, 1},
                 {7, -2, -1},
                 {-7, -2, -1},
                 {1, 0, kNaN},
                 {kInf, 1, kNaN},
                 {3, kInf, 3},
                 {4, 2, 0}}},
  });
}

const Listed kBinaryListed(rounding_binary);

}  // namespace
}  // namespace neap::testing
