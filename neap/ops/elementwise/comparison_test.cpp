// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/comparison.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<OpTable> comparison_unary() {
  return unary_tables({
      {.name = "isnan",
       .fn = isnan,
       .reference = [](double x) { return x != x ? 1.0 : 0.0; },
       .domain = uniform({}, -2, 2),
       .differentiable = false,
       .edges = {{0, 0}, {-1e30, 0}, {kInf, 0}, {-kInf, 0}, {kNaN, 1}}},
      {.name = "isinf",
       .fn = isinf,
       .reference = [](double x) { return std::abs(x) == kInf ? 1.0 : 0.0; },
       .domain = uniform({}, -2, 2),
       .differentiable = false,
       .edges = {{0, 0}, {-1e30, 0}, {kInf, 1}, {-kInf, 1}, {kNaN, 0}}},
      {.name = "isfinite",
       .fn = isfinite,
       .reference = [](double x) { return std::abs(x) < kInf ? 1.0 : 0.0; },
       .domain = uniform({}, -2, 2),
       .differentiable = false,
       .edges = {{0, 1}, {-1e30, 1}, {kInf, 0}, {-kInf, 0}, {kNaN, 0}}},
  });
}

const Listed kUnaryListed(comparison_unary);

std::vector<OpTable> comparison_binary() {
  return binary_tables({
      {.name = "eq",
       .op = &ops::kEq,
       .fn = eq,
       .reference = [](double a, double b) { return a == b ? 1.0 : 0.0; },
       .a = integers({}, -2, 3),
       .b = integers({}, -2, 3),
       .takes_integers = true,
       .differentiable = false,
       .edges = {{kNaN, 1, 0}, {kNaN, kNaN, 0}}},
      {.name = "ne",
       .op = &ops::kNe,
       .fn = ne,
       .reference = [](double a, double b) { return a != b ? 1.0 : 0.0; },
       .a = integers({}, -2, 3),
       .b = integers({}, -2, 3),
       .takes_integers = true,
       .differentiable = false,
       .edges = {{kNaN, 1, 1}, {kNaN, kNaN, 1}}},
      {.name = "lt",
       .op = &ops::kLt,
       .fn = lt,
       .reference = [](double a, double b) { return a < b ? 1.0 : 0.0; },
       .a = integers({}, -2, 3),
       .b = integers({}, -2, 3),
       .takes_integers = true,
       .differentiable = false,
       .edges = {{kNaN, 1, 0}, {kNaN, kNaN, 0}}},
      {.name = "le",
       .op = &ops::kLe,
       .fn = le,
       .reference = [](double a, double b) { return a <= b ? 1.0 : 0.0; },
       .a = integers({}, -2, 3),
       .b = integers({}, -2, 3),
       .takes_integers = true,
       .differentiable = false,
       .edges = {{kNaN, 1, 0}, {kNaN, kNaN, 0}}},
      {.name = "gt",
       .op = &ops::kGt,
       .fn = gt,
       .reference = [](double a, double b) { return a > b ? 1.0 : 0.0; },
       .a = integers({}, -2, 3),
       .b = integers({}, -2, 3),
       .takes_integers = true,
       .differentiable = false,
       .edges = {{kNaN, 1, 0}, {kNaN, kNaN, 0}}},
      {.name = "ge",
       .op = &ops::kGe,
       .fn = ge,
       .reference = [](double a, double b) { return a >= b ? 1.0 : 0.0; },
       .a = integers({}, -2, 3),
       .b = integers({}, -2, 3),
       .takes_integers = true,
       .differentiable = false,
       .edges = {{kNaN, 1, 0}, {kNaN, kNaN, 0}}},
  });
}

const Listed kBinaryListed(comparison_binary);

// An op of two truth values.
struct LogicalOp {
  std::string name{};
  const graph::Op* op = nullptr;
  Tensor (*fn)(const Operand& a, const Operand& b) = nullptr;
  double (*reference)(double a, double b) = nullptr;  // 0: false
};

OpTable logical_table(const LogicalOp& op) {
  const OpFunction fn = [f = op.fn](Inputs x) { return f(x[0], x[1]); };
  const Reference reference = each_pair(op.reference);
  const auto row = [&](const char* name, const Shape& a, const Shape& b) {
    return OpRow{.name = name,
                 .fn = fn,
                 .inputs = {integers(a, 0, 2), integers(b, 0, 2)},
                 .reference = reference,
                 .dtypes = {boolean},
                 .differentiable = false};
  };
  OpTable table{.name = op.name,
                .op = op.op,
                .rows = {row("equal shapes", {3, 5}, {3, 5}),
                         row("broadcast", {3, 1}, {2, 1, 4}),
                         row("large", {131, 263}, {263})}};
  table.rows[0].zero_size = {{{0, 4}, {0, 4}}, {{3, 0}, {1, 1}}};
  table.errors = {{.name = "floats",
                   .fn = fn,
                   .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1)},
                   .error = typeid(DTypeError)},
                  {.name = "shapes",
                   .fn = fn,
                   .inputs = {integers({3, 2}, 0, 2).as(boolean),
                              integers({4}, 0, 2).as(boolean)},
                   .error = typeid(ShapeError)}};
  return table;
}

OpTable logical_and_table() {
  return logical_table({.name = "logical_and",
                        .op = &ops::kLogicalAnd,
                        .fn = logical_and,
                        .reference = [](double a, double b) {
                          return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
                        }});
}

const Listed kLogicalAndListed(logical_and_table);

OpTable logical_or_table() {
  return logical_table({.name = "logical_or",
                        .op = &ops::kLogicalOr,
                        .fn = logical_or,
                        .reference = [](double a, double b) {
                          return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
                        }});
}

const Listed kLogicalOrListed(logical_or_table);

OpTable logical_xor_table() {
  return logical_table({.name = "logical_xor",
                        .op = &ops::kLogicalXor,
                        .fn = logical_xor,
                        .reference = [](double a, double b) {
                          return (a != 0.0) != (b != 0.0) ? 1.0 : 0.0;
                        }});
}

const Listed kLogicalXorListed(logical_xor_table);

OpTable logical_not_table() {
  return {.name = "logical_not",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return logical_not(x[0]); },
                    .inputs = {integers({3, 5}, 0, 2)},
                    .reference = each([](double x) { return 1.0 - x; }),
                    .zero_size = {{{0, 4}}},
                    .dtypes = {boolean},
                    .differentiable = false}},
          .errors = {{.name = "floats",
                      .fn = [](Inputs x) { return logical_not(x[0]); },
                      .inputs = {uniform({3}, 0, 1)},
                      .error = typeid(DTypeError)}}};
}

const Listed kLogicalNotListed(logical_not_table);

}  // namespace
}  // namespace neap::testing
