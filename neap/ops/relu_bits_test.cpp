// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/relu_bits.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "neap/graph/vertex.hpp"
#include "neap/ops/leaky_relu.hpp"
#include "neap/ops/relu.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor as_relu(const Operand& x) {
  return ops::relu_bits(x, 0.0);
}

Tensor as_leaky(const Operand& x) {
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

const Listed kListed(relu_bits_table);

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

}  // namespace
}  // namespace neap::testing
