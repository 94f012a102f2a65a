// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/inspect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "neap/autograd/backward.hpp"
#include "neap/graph/lifetime.hpp"
#include "neap/graph/print.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::graph {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Tensor leaf(std::string_view owner, const Shape& shape = {3, 4}) {
  memory::Domain& door = memory::domain();
  const memory::ContextGuard guard([&](memory::Context& c) {
    c.owner = door.owner(owner);
    c.category = memory::Category::kParameters;
  });
  return requires_grad_(ones(shape));
}

int line_of(base::SiteId site) {
  return base::site_of(site).line;
}

TEST(InspectTest, TellsOpInputsResidualsAndUsers_D1) {
  const Tensor x = leaf("fc1.weight");
  const Tensor w = leaf("fc2.weight");
  const Tensor y = x * w;
  const int line = __LINE__ - 1;
  const Tensor z = tanh(y);

  const NodeInfo info = inspect(y);
  EXPECT_EQ(info.standing, Standing::kAvailable);
  EXPECT_EQ(info.made_by.op, "mul");
  EXPECT_FALSE(info.formula.empty());
  EXPECT_EQ(line_of(info.made_by.site), line);
  EXPECT_GT(info.bytes, 0);
  ASSERT_EQ(info.inputs.size(), 2U);
  EXPECT_EQ(info.inputs[0].standing, Standing::kLeaf);
  EXPECT_EQ(info.inputs[0].made_by.owner, "fc1.weight");
  EXPECT_EQ(info.inputs[1].made_by.owner, "fc2.weight");
  ASSERT_EQ(info.residuals.size(), 2U);
  EXPECT_FALSE(info.residuals[0].is_output);
  EXPECT_EQ(info.residuals[1].index, 1);
  EXPECT_EQ(info.residuals[1].shape, Shape({3, 4}));
  EXPECT_EQ(info.residuals[1].dtype, DType::kF32);
  EXPECT_EQ(info.residuals[1].bytes, 48);
  EXPECT_EQ(info.residuals[1].sharing, Sharing::kShared);
  EXPECT_EQ(info.residuals[1].category, memory::Category::kParameters);
  EXPECT_EQ(info.residuals[1].owner, "fc2.weight");
  EXPECT_EQ(info.residual_bytes, 96);
  ASSERT_EQ(info.users.size(), 1U);  // the handle y is none
  EXPECT_EQ(info.users[0].op, "tanh");

  const NodeInfo last = inspect(z);
  ASSERT_EQ(last.inputs.size(), 1U);
  EXPECT_EQ(last.inputs[0].made_by.op, "mul");
  EXPECT_EQ(last.inputs[0].made_by.sequence, info.made_by.sequence);
  ASSERT_EQ(last.residuals.size(), 1U);
  EXPECT_TRUE(last.residuals[0].is_output);
  EXPECT_TRUE(last.users.empty());
}

TEST(InspectTest, KnowsLeavesAndWhatNoGraphRecords) {
  const Tensor x = leaf("weight");
  EXPECT_EQ(inspect(x).standing, Standing::kLeaf);
  EXPECT_EQ(inspect(x).made_by.owner, "weight");
  EXPECT_FALSE(inspect(x).has_grad);
  EXPECT_EQ(inspect(ones({2})).standing, Standing::kUntracked);
  EXPECT_EQ(inspect(x.detach()).standing, Standing::kUntracked);
  EXPECT_THROW(inspect(Tensor()), UseAfterRelease);
  backward(sum(x));
  EXPECT_TRUE(inspect(x).has_grad);
}

TEST(InspectTest, TellsWhatABackwardConsumedAndWhereAndWhatThatMadeUnusable) {
  const Tensor x = leaf("weight");
  const Tensor y = exp(x);
  const Tensor branch = y * 2.0;
  const Tensor loss = sum(y);
  backward(loss);
  const int line = __LINE__ - 1;
  const NodeInfo info = inspect(loss);
  EXPECT_EQ(info.standing, Standing::kConsumed);
  EXPECT_EQ(line_of(info.cause_site), line);
  EXPECT_TRUE(info.residuals.empty());
  EXPECT_TRUE(info.inputs.empty());
  const NodeInfo other = inspect(branch);
  EXPECT_EQ(other.standing, Standing::kUnavailable);
  EXPECT_EQ(other.cause_op, "exp");
  EXPECT_EQ(line_of(other.cause_site), line);
}

TEST(InspectTest, TellsWhatWasReleased) {
  const Tensor y = exp(leaf("weight"));
  release(y);
  EXPECT_EQ(inspect(y).standing, Standing::kReleased);
  EXPECT_EQ(line_of(inspect(y).cause_site), __LINE__ - 2);
  EXPECT_EQ(name_of(inspect(y).standing), "released");
}

TEST(InspectTest, SeesAValueThatWasOverwritten) {
  Tensor x = leaf("weight");
  const Tensor y = square(x);
  EXPECT_FALSE(inspect(y).residuals[0].is_stale);
  x.mutable_values<float>()[0] = 2;
  EXPECT_TRUE(inspect(y).residuals[0].is_stale);
}

TEST(MeasureTest, CountsWhatSeveralNeedOnce) {
  Tensor f = leaf("weight", {1});
  for (int i = 0; i < 60; ++i) {
    f = f + f;
  }
  const GraphSize size = measure(f);
  EXPECT_EQ(size.nodes, 60);
  EXPECT_EQ(size.leaves, 1);
  EXPECT_EQ(size.residuals, 0);
}

TEST(MeasureTest, TellsBytesThatTheGraphAloneHolds) {
  const Tensor x = leaf("weight", {100});
  Tensor y = exp(x);  // keeps its output
  const Tensor loss = sum(y * y);
  EXPECT_EQ(measure(loss).residuals, 3);
  EXPECT_EQ(measure(loss).residual_bytes, 400);
  EXPECT_EQ(measure(loss).alone_bytes, 0);
  Tensor view = y.detach();
  y = Tensor();
  EXPECT_EQ(measure(loss).alone_bytes, 0);
  view = Tensor();
  EXPECT_EQ(measure(loss).residual_bytes, 400);
  EXPECT_EQ(measure(loss).alone_bytes, 400);
}

TEST(MeasureTest, IsTheBytesThatTheGraphTakes) {
  const Tensor x = leaf("weight", {100});
  const Bytes before = memory::domain().stats().live;
  const Tensor loss = sum(exp(x));
  const GraphSize size = measure(loss);
  const Bytes taken = memory::domain().stats().live - before;
  EXPECT_EQ(size.alone_bytes, 400);
  // The rest is headers of results, and the leaf that was there before.
  EXPECT_LE(size.alone_bytes + size.node_bytes - Bytes{sizeof(Leaf)}, taken);
  EXPECT_GE(size.alone_bytes + size.node_bytes + 2048, taken);
}

TEST(InspectTest, ChangesNothingInTheDomain) {
  const Tensor x = leaf("weight");
  const Tensor loss = sum(tanh(x * x));
  const memory::Stats before = memory::domain().stats();
  std::ignore = inspect(loss);
  std::ignore = measure(loss);
  std::ignore = print(loss);
  const memory::Stats after = memory::domain().stats();
  EXPECT_EQ(after.live, before.live);
  EXPECT_EQ(after.live_blocks, before.live_blocks);
  backward(loss);
  EXPECT_TRUE(x.grad().defined());
}

std::string site(int line) {
  return "inspect_test.cpp:" + std::to_string(line) + " (TestBody)";
}

TEST(PrintTest, IsALineANodeALineAResidualAndALineALeaf_D14) {
  const Tensor x = leaf("fc1.weight");
  const int line = __LINE__ + 1;
  Tensor y = x * x;
  const Tensor loss = -tanh(y);
  y = Tensor();
  const std::string text = print(loss);
  EXPECT_THAT(text, StartsWith("3 nodes and 1 leaf of "));
  EXPECT_THAT(text, HasSubstr("3 residuals of 96 B, nothing else holds 48 B"));
  EXPECT_THAT(text, HasSubstr("#1 neg <- #2  " + site(line + 1)));
  EXPECT_THAT(text, HasSubstr("#2 tanh <- #3  " + site(line + 1)));
  EXPECT_THAT(text, HasSubstr("\n     keeps output 0: f32 [3, 4], 48 B\n"));
  EXPECT_THAT(text, HasSubstr("#3 mul <- L1 L1  " + site(line)));
  EXPECT_THAT(text, HasSubstr("     keeps input 0: f32 [3, 4], 48 B, shared, "
                              "parameters 'fc1.weight'\n"));
  EXPECT_THAT(text, HasSubstr("     keeps input 1: f32 [3, 4], 48 B, the "
                              "bytes kept by #3\n"));
  EXPECT_THAT(text, HasSubstr("\nL1 'fc1.weight'  "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8) << text;
}

TEST(PrintTest, SaysWhatWasConsumedWhere) {
  const Tensor loss = sum(leaf("weight"));
  backward(loss);
  EXPECT_THAT(print(loss),
              HasSubstr("consumed by the backward at " + site(__LINE__ - 2)));
}

TEST(PrintTest, CountsWhatItLeavesOutOfALongChain) {
  const Tensor x = leaf("weight", {1});
  Tensor f = x;
  for (int i = 0; i < 100'000; ++i) {
    f = -f;
  }
  const std::string text = print(f, {.max_nodes = 3});
  EXPECT_THAT(text, StartsWith("100 000 nodes and 1 leaf"));
  EXPECT_THAT(text, HasSubstr("\n... and 99 997 nodes more\nL1 'weight'"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
}

}  // namespace
}  // namespace neap::graph
