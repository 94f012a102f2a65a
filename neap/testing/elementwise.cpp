// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

InputSpec of_shape(const InputSpec& domain, const Shape& shape) {
  InputSpec spec = domain;
  spec.shape = shape;
  return spec;
}

// More elements than one part of a kernel's work.
const Shape& large() {
  static const Shape shape{131, 263};
  return shape;
}

}  // namespace

OpTable unary_table(const UnaryOp& op) {
  const OpFunction fn = [f = op.fn](Inputs x) { return f(x[0]); };
  OpRow row{.fn = fn, .reference = each(op.reference)};
  row.differentiable = op.differentiable;
  const auto with = [&](const char* name, const Shape& shape) {
    OpRow out = row;
    out.name = name;
    out.inputs = {of_shape(op.domain, shape)};
    return out;
  };
  OpTable table{.name = op.name, .op = op.op};
  OpRow plain = with("matrix", {3, 5});
  plain.zero_size = {{{0, 4}}, {{3, 0, 2}}};
  table.rows = {plain, with("rank 0", {}), with("large", large())};
  table.rows.back().second_derivative = false;
  if (op.takes_integers) {
    OpRow whole = with("integers", {3, 5});
    whole.inputs = {integers({3, 5}, -4, 5)};
    whole.dtypes = {i32, i64};
    table.rows.push_back(whole);
  } else {
    table.errors = {{.name = "integers",
                     .fn = fn,
                     .inputs = {integers({3}, 0, 5).as(i32)},
                     .error = typeid(DTypeError)}};
  }
  return table;
}

OpTable binary_table(const BinaryOp& op) {
  const OpFunction fn = [f = op.fn](Inputs x) { return f(x[0], x[1]); };
  OpRow row{.fn = fn, .reference = each_pair(op.reference)};
  row.differentiable = op.differentiable;
  const auto with = [&](const char* name, const Shape& a, const Shape& b) {
    OpRow out = row;
    out.name = name;
    out.inputs = {of_shape(op.a, a), of_shape(op.b, b)};
    return out;
  };
  OpTable table{.name = op.name, .op = op.op};
  OpRow equal = with("equal shapes", {3, 5}, {3, 5});
  equal.zero_size = {{{0, 4}, {0, 4}}, {{3, 0}, {1, 1}}, {{0, 1}, {5}}};
  table.rows = {equal, with("broadcast", {3, 1}, {2, 1, 4}),
                with("rank 0 and vector", {}, {7}),
                with("vector and rank 0", {7}, {}),
                with("large", large(), {large()[1]})};
  table.rows.back().second_derivative = false;
  if (op.takes_integers) {
    OpRow whole = with("integers", {3, 5}, {5});
    whole.inputs = {integers({3, 5}, -4, 5), integers({5}, -4, 5)};
    whole.dtypes = {i32, i64};
    table.rows.push_back(whole);
  } else {
    table.errors = {
        {.name = "integers",
         .fn = fn,
         .inputs = {integers({3}, 1, 5).as(i32), integers({3}, 1, 5).as(i32)},
         .error = typeid(DTypeError)}};
  }
  table.errors.push_back({.name = "shapes",
                          .fn = fn,
                          .inputs = {positive({3, 2}), positive({4})},
                          .error = typeid(ShapeError)});
  table.errors.push_back({.name = "dtypes",
                          .fn = fn,
                          .inputs = {positive({3}), positive({3}).as(f64)},
                          .error = typeid(DTypeError)});
  return table;
}

OpRow kink_row(OpFunction fn, std::vector<InputSpec> inputs,
               std::vector<double> value,
               std::vector<std::vector<double>> cotangents,
               std::vector<double> tangent) {
  OpRow row{.name = "kink",
            .fn = std::move(fn),
            .inputs = std::move(inputs),
            .expected = std::move(value),
            .expected_vjp = std::move(cotangents),
            .expected_jvp = std::move(tangent)};
  row.smooth = false;
  return row;
}

OpRow value_row(std::string name, OpFunction fn, std::vector<InputSpec> inputs,
                std::vector<double> value) {
  OpRow row{.name = std::move(name),
            .fn = std::move(fn),
            .inputs = std::move(inputs),
            .expected = std::move(value)};
  row.differentiable = false;
  return row;
}

}  // namespace neap::testing
