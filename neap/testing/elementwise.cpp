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

// A member of every item.
template <class Item>
std::vector<double> column(const std::vector<Item>& items,
                           double Item::*member) {
  std::vector<double> values;
  values.reserve(items.size());
  for (const Item& item : items) {
    values.push_back(item.*member);
  }
  return values;
}

InputSpec as_input(const std::vector<double>& values) {
  return literal({static_cast<std::int64_t>(values.size())}, values);
}

void add_points(const UnaryOp& op, const OpFunction& fn, OpTable& table) {
  using Kink = UnaryOp::Kink;
  using Edge = UnaryOp::Edge;
  if (!op.kinks.empty()) {
    const std::vector<double> slopes = column(op.kinks, &Kink::slope);
    table.rows.push_back(kink_row(fn, {as_input(column(op.kinks, &Kink::x))},
                                  column(op.kinks, &Kink::y), {slopes},
                                  slopes));
  }
  if (!op.edges.empty()) {
    table.rows.push_back(value_row("edges", fn,
                                   {as_input(column(op.edges, &Edge::x))},
                                   column(op.edges, &Edge::y)));
  }
}

void add_points(const BinaryOp& op, const OpFunction& fn, OpTable& table) {
  using Kink = BinaryOp::Kink;
  using Edge = BinaryOp::Edge;
  if (!op.kinks.empty()) {
    std::vector<double> both;
    both.reserve(op.kinks.size());
    for (const Kink& kink : op.kinks) {
      both.push_back(kink.slope_a + kink.slope_b);
    }
    table.rows.push_back(kink_row(
        fn,
        {as_input(column(op.kinks, &Kink::a)),
         as_input(column(op.kinks, &Kink::b))},
        column(op.kinks, &Kink::y),
        {column(op.kinks, &Kink::slope_a), column(op.kinks, &Kink::slope_b)},
        both));
  }
  if (!op.edges.empty()) {
    table.rows.push_back(value_row("edges", fn,
                                   {as_input(column(op.edges, &Edge::a)),
                                    as_input(column(op.edges, &Edge::b))},
                                   column(op.edges, &Edge::y)));
  }
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
  add_points(op, fn, table);
  return table;
}

std::vector<OpTable> unary_tables(std::span<const UnaryOp> ops) {
  std::vector<OpTable> tables;
  tables.reserve(ops.size());
  for (const UnaryOp& op : ops) {
    tables.push_back(unary_table(op));
  }
  return tables;
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
  add_points(op, fn, table);
  return table;
}

std::vector<OpTable> binary_tables(std::span<const BinaryOp> ops) {
  std::vector<OpTable> tables;
  tables.reserve(ops.size());
  for (const BinaryOp& op : ops) {
    tables.push_back(binary_table(op));
  }
  return tables;
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
