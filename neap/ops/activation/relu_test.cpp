// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/activation/relu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "neap/graph/vertex.hpp"
#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/elementwise.hpp"
#include "neap/testing/op_table.hpp"

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

const Listed kReluListed(relu_table);

double usual(double x) {
  return x > 0.0 ? x : 0.01 * x;
}

OpTable leaky_relu_table() {
  OpTable table =
      unary_table({.name = "leaky_relu",
                   .op = &ops::kLeakyRelu,
                   .fn = [](const TensorOperand& x) { return leaky_relu(x); },
                   .reference = usual,
                   .domain = away_from({}, {0.0})});
  // The plain form, recorded too: leaky_relu() itself never does that.
  OpRow plain = table.rows[0];
  plain.name = "plain form";
  plain.fn = [](Inputs x) {
    return graph::apply(ops::kLeakyRelu, {x[0]}, kernels::SlopeAttrs{0.01});
  };
  table.rows.push_back(plain);
  OpRow negative = table.rows[0];
  negative.name = "negative slope";
  negative.fn = [](Inputs x) { return leaky_relu(x[0], -0.5); };
  negative.reference = each([](double x) { return x > 0.0 ? x : -0.5 * x; });
  table.rows.push_back(negative);
  const OpFunction quarter = [](Inputs x) { return leaky_relu(x[0], 0.25); };
  table.rows.push_back(kink_row(quarter, {literal({3}, {-1, 0, 2})},
                                {-0.25, 0, 2}, {{0.25, 0.25, 1}},
                                {0.25, 0.25, 1}));
  table.rows.push_back(value_row("edges", quarter,
                                 {literal({3}, {-kInf, kInf, kNaN})},
                                 {-kInf, kInf, kNaN}));
  return table;
}

const Listed kLeakyReluListed(leaky_relu_table);

Tensor as_relu(const TensorOperand& x) {
  return ops::relu_bits(x, 0.0);
}

Tensor as_leaky(const TensorOperand& x) {
  return ops::relu_bits(x, 0.25);
}

OpTable relu_bits_table() {
  OpTable table =
      unary_table({.name = "relu_bits",
                   .op = &ops::kReluBits,
                   .fn = as_relu,
                   .reference = [](double x) { return std::max(x, 0.0); },
                   .domain = away_from({}, {0.0})});
  OpRow leaky = table.rows[0];
  leaky.name = "leaky";
  leaky.fn = [](Inputs x) { return as_leaky(x[0]); };
  leaky.reference = each([](double x) { return x > 0.0 ? x : 0.25 * x; });
  table.rows.push_back(leaky);
  table.rows.push_back(kink_row([](Inputs x) { return as_relu(x[0]); },
                                {literal({4}, {-1, 0, -0.0, 2})}, {0, 0, 0, 2},
                                {{0, 0, 0, 1}}, {0, 0, 0, 1}));
  table.rows.push_back(kink_row(
      [](Inputs x) { return as_leaky(x[0]); }, {literal({4}, {-1, 0, -0.0, 2})},
      {-0.25, 0, 0, 2}, {{0.25, 0.25, 0.25, 1}}, {0.25, 0.25, 0.25, 1}));
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return as_relu(x[0]); },
                {literal({3}, {-kInf, kInf, kNaN})}, {0, kInf, kNaN}));
  return table;
}

const Listed kReluBitsListed(relu_bits_table);

// Bytes of data that a recorded call keeps beside its input and result.
Bytes kept_by(Tensor (*f)(const Tensor&)) {
  const auto domain = memory::Domain::create({.name = "relu"});
  const memory::ContextGuard guard(
      [&](memory::Context& c) { c.domain = domain.get(); });
  const auto live = [&] {
    std::array<memory::Row, 64> rows;
    const int count = domain->live_rows(rows);
    Bytes bytes = 0;
    for (const memory::Row& row :
         std::span(rows).first(static_cast<std::size_t>(count))) {
      bytes += row.tag.category == memory::Category::kActivations ? row.bytes
                                                                  : Bytes{0};
    }
    return bytes;
  };
  const Tensor x = requires_grad_(ones({1000, 64}));
  const Bytes before = live();
  const Tensor y = f(x);
  return live() - before - 4 * y.element_count();
}

TEST(ReluBitsTest, ARecordedCallKeepsOneBitAnElement) {
  EXPECT_EQ(kept_by([](const Tensor& x) { return relu(x); }), 8000);
  EXPECT_EQ(kept_by([](const Tensor& x) { return leaky_relu(x); }), 8000);
}

TEST(ReluBitsTest, ACallThatNothingRecordsKeepsNothing) {
  const auto unrecorded = [](const Tensor& x) {
    const NoGrad guard;
    return relu(x);
  };
  EXPECT_EQ(kept_by(unrecorded), 0);
}

constexpr double kSlope = 0.25;

bool bit(const HostArray& bits, std::size_t i) {
  return (static_cast<unsigned>(bits.values[i / 8]) >> i % 8 & 1U) != 0;
}

std::vector<double> with_slope(std::span<const HostArray> x, double slope) {
  std::vector<double> out = x[0].values;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] *= bit(x[1], i) ? 1.0 : slope;
  }
  return out;
}

OpRow row(const char* name, const Shape& shape) {
  const std::int64_t bytes = (shape.element_count() + 7) / 8;
  return {.name = name,
          .fn = [](Inputs x) { return ops::relu_grad(x[0], x[1], 0.0); },
          .inputs = {uniform(shape, -2, 2), integers({bytes}, 0, 256).as(u8)},
          .reference = [](auto x) { return with_slope(x, 0.0); }};
}

OpTable relu_grad_table() {
  OpTable table{.name = "relu_grad", .op = &ops::kReluGrad};
  table.rows = {row("matrix", {3, 5}), row("rank 0", {}),
                row("large", {131, 263}), row("leaky", {7, 9})};
  table.rows[0].zero_size = {{{0, 4}, {0}}};
  table.rows[2].second_derivative = false;
  table.rows[3].fn = [](Inputs x) {
    return ops::relu_grad(x[0], x[1], kSlope);
  };
  table.rows[3].reference = [](auto x) { return with_slope(x, kSlope); };
  const OpFunction fn = table.rows[0].fn;
  table.errors = {
      {.name = "too few bits",
       .fn = fn,
       .inputs = {uniform({9}, 0, 1), integers({1}, 0, 256).as(u8)},
       .error = typeid(ShapeError)},
      {.name = "no bits",
       .fn = fn,
       .inputs = {uniform({3}, 0, 1), uniform({1}, 0, 1)},
       .error = typeid(DTypeError)},
      {.name = "integers",
       .fn = fn,
       .inputs = {integers({3}, 0, 9).as(i32), integers({1}, 0, 256).as(u8)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kReluGradListed(relu_grad_table);

}  // namespace
}  // namespace neap::testing
