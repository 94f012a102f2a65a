// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Graphs whose paths are many while their nodes are few: each rule runs once,
// however many ways lead to its node. Rules are counted; nothing is timed.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/base/error.hpp"
#include "neap/graph/rules.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/tensor/create.hpp"

namespace neap::tests {
namespace {

using graph::Op;
using graph::OpArgs;
using graph::VjpContext;
using tensor::Layout;
using tensor::Spec;

// Attributes of the ops below: where their rules are counted.
struct Tally {
  std::int64_t* rules;
};

void count(const VjpContext& c) {
  ++*c.attrs<Tally>().rules;
}

void infer(const OpArgs& args, std::span<Spec> out) {
  out[0] = args.inputs[0];
}

constexpr Op kPass{
    .name = "pass",
    .formula = "y = x",
    .infer = infer,
    .view = [](const Layout& input, const graph::Attrs&) { return input; },
    .vjp =
        [](VjpContext& c) {
          count(c);
          c.set(0, c.take_cotangent());
        },
    .facts = {}};

constexpr Op kSum{.name = "sum of two",
                  .formula = "y = a + b",
                  .infer = infer,
                  .kernel = &kernels::add_kernels,
                  .vjp =
                      [](VjpContext& c) {
                        count(c);
                        c.set(0, c.cotangent());
                        c.set(1, c.cotangent());
                      },
                  .facts = {}};

// The minimum of equal numbers: half of the derivative goes to each.
constexpr Op kMeet{.name = "meet",
                   .formula = "y = min(a, b)",
                   .infer = infer,
                   .kernel = &kernels::minimum_kernels,
                   .vjp =
                       [](VjpContext& c) {
                         count(c);
                         const Tensor half = mul(c.take_cotangent(), 0.5);
                         c.set(0, half);
                         c.set(1, half);
                       },
                   .facts = {}};

TEST(GraphShapesTest, SixtyDoublingsRunSixtyRules) {
  std::int64_t rules = 0;
  const Tensor x = requires_grad_(ones({1}, f64));
  Tensor y = x;
  for (int i = 0; i < 60; ++i) {
    y = graph::apply(kSum, {y, y}, Tally{&rules});
  }
  backward(y);
  EXPECT_EQ(rules, 60);
  EXPECT_EQ(x.grad().item(), 0x1p60);
}

TEST(GraphShapesTest, AHundredThousandDiamondsRunEachRuleOnce) {
  constexpr int kDiamonds = 100'000;
  std::int64_t rules = 0;
  const Tensor x = requires_grad_(ones({1}, f64));
  Tensor y = x;
  for (int i = 0; i < kDiamonds; ++i) {
    const Tensor left = graph::apply(kPass, {y}, Tally{&rules});
    const Tensor right = graph::apply(kPass, {y}, Tally{&rules});
    y = graph::apply(kMeet, {left, right}, Tally{&rules});
  }
  backward(y);
  EXPECT_EQ(rules, 3 * kDiamonds);
  EXPECT_EQ(x.grad().item(), 1.0);
}

TEST(GraphShapesTest, AValueOfAMillionUsesTakesThemAllAlong) {
  constexpr int kUses = 1'000'000;
  std::int64_t rules = 0;
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor x = requires_grad_(ones({1}));
  const Tensor shared = graph::apply(kPass, {x}, Tally{&rules});
  memory::Vector<Tensor> results;
  results.reserve(kUses);
  for (int i = 0; i < kUses; ++i) {
    results.push_back(graph::apply(kPass, {shared}, Tally{&rules}));
  }
  backward(results[kUses / 2]);
  EXPECT_EQ(rules, 2);
  EXPECT_THROW(backward(results.front()), GraphError);
  EXPECT_THROW(backward(results.back()), GraphError);
  EXPECT_TRUE(results.back().requires_grad());
}

TEST(GraphShapesTest, AMillionUsesAddUpInTheOrderOfTheTape) {
  constexpr int kUses = 1'000'000;
  std::int64_t rules = 0;
  const Tensor x = requires_grad_(ones({1}, f64));
  const Tensor shared = graph::apply(kPass, {x}, Tally{&rules});
  Tensor total = shared;
  for (int i = 1; i < kUses; ++i) {
    total = graph::apply(kSum, {total, shared}, Tally{&rules});
  }
  backward(total);
  EXPECT_EQ(rules, kUses);
  EXPECT_EQ(x.grad().item(), kUses);
}

}  // namespace
}  // namespace neap::tests
