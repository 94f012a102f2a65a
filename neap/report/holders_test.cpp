// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/holders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/memory/composite.hpp"
#include "neap/ops/ops.hpp"
#include "neap/report/growth.hpp"
#include "neap/report/leaks.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/tensor/create.hpp"

namespace neap::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string at(int line) {
  return "holders_test.cpp:" + std::to_string(line) + " (TestBody)";
}

class HoldersTest : public testing::Test {
 protected:
  static Tensor leaf(std::string_view owner) {
    memory::Domain& door = memory::domain();
    const memory::ContextGuard guard([&](memory::Context& c) {
      c.owner = door.owner(owner);
      c.category = memory::Category::kParameters;
    });
    return requires_grad_(ones({3, 4}));
  }

  memory::TrackHandles tracking_;
};

TEST_F(HoldersTest, NamesTheResidualTheNodesAndTheHandle_N5) {
  const Tensor w = leaf("fc1.weight");
  const Baseline baseline;
  const Tensor loss = sum(exp(w));  // a sum and a reshape
  const std::string where = at(__LINE__ - 1);
  EXPECT_THAT(
      report_leaks(baseline),
      HasSubstr("leak: 52 B in 2 blocks of activations, owner '', made at " +
                where +
                "\n    f32 [3, 4], 48 B, made by 'exp'\n"
                "      held by residual 'output 0' of 'exp' (" +
                where + ")\n      <- needed by 'sum' (" + where +
                ")\n      <- needed by 'reshape' (" + where +
                ")\n      <- 1 handle of the 'reshape' made at " + where +
                "\n    f32 [], 4 B, made by 'reshape'\n"));
}

TEST_F(HoldersTest, NamesTheLineOfHandlesKeptInAVector_D10) {
  std::vector<Tensor> kept;
  const Baseline baseline;
  for (int i = 0; i < 5; ++i) {
    kept.push_back(zeros({100}));
  }
  const int line = __LINE__ - 2;
  const std::string text = report_leaks(baseline);
  EXPECT_THAT(text, HasSubstr("leak: 2 000 B in 5 blocks of other, owner '', "
                              "made at " +
                              at(line)));
  EXPECT_THAT(text, HasSubstr("    f32 [100], 400 B\n"
                              "      held by 1 handle of the tensor made at " +
                              at(line) + "\n"));
  EXPECT_THAT(text, HasSubstr("    ... and 2 more\n"));
}

TEST_F(HoldersTest, NamesWhatALossHistoryKeeps_D10) {
  const Tensor w = leaf("fc1.weight");
  std::vector<Tensor> history;
  const Baseline baseline;
  for (int i = 0; i < 3; ++i) {
    const Tensor hidden = tanh(w);
    history.push_back(mean(hidden));
  }
  const int line = __LINE__ - 3;
  const std::string text = report_leaks(baseline);
  EXPECT_THAT(text, HasSubstr("144 B in 3 blocks of activations"));
  EXPECT_THAT(text, HasSubstr("residual 'output 0' of 'tanh' (" + at(line)));
  EXPECT_THAT(text, HasSubstr("made at " + at(line + 1) + "\n"));
}

TEST_F(HoldersTest, NamesTheCycleThroughAHookThatHoldsItsOwnTensor_D10) {
  const Tensor w = leaf("fc1.weight");
  const Baseline baseline;
  HookHandle hook;
  {
    const Tensor y = exp(w);
    hook = register_hook(y, [y](const Tensor& grad) { return grad * y; });
  }
  const int line = __LINE__ - 3;
  EXPECT_THAT(
      report_leaks(baseline),
      HasSubstr("    f32 [3, 4], 48 B, made by 'exp'\n"
                "      held by the closure of the hook registered at " +
                at(line + 1) + " on 'exp' (" + at(line) +
                ")\n      <- which it holds itself: a cycle, that nothing "
                "outside holds\n"));
  hook.remove();
  hook = {};
  EXPECT_EQ(report_leaks(baseline), "");
}

TEST_F(HoldersTest, NamesWhatAHookHoldsOfAnotherTensor_D10) {
  const Tensor w = leaf("fc1.weight");
  const Baseline baseline;
  {
    const Tensor scale = full({3, 4}, 2.0);
    register_hook(w, [scale](const Tensor& grad) { return grad * scale; });
  }
  const int line = __LINE__ - 2;
  EXPECT_THAT(
      report_leaks(baseline),
      HasSubstr("held by the closure of the hook registered at " + at(line) +
                " on the leaf 'fc1.weight'\n"
                "      <- 1 handle of parameters 'fc1.weight'\n"));
}

TEST_F(HoldersTest, NamesTheCycleOfAGradientThatHasAGraph_D10) {
  const Baseline baseline;
  base::Ref<tensor::GraphLink> link;  // no handle, but it lets us end the test
  {
    const Tensor w = leaf("fc1.weight");
    backward(sum(exp(w)), {.create_graph = true});
    link = w.link();
    EXPECT_THAT(report_leaks(baseline), Not(HasSubstr("a cycle")));
  }
  const std::string text = report_leaks(baseline);
  EXPECT_THAT(text, HasSubstr("the gradient of the leaf 'fc1.weight'\n"
                              "      <- needed by 'exp'"));
  EXPECT_THAT(text, HasSubstr("a cycle"));
  static_cast<graph::Leaf&>(*link).set_grad({});
}

TEST_F(HoldersTest, NamesGradientResultsThatWereForgotten_D10) {
  const Tensor w = leaf("fc1.weight");
  const Baseline baseline;
  std::vector<Tensor> forgotten;
  for (int i = 0; i < 2; ++i) {
    forgotten.push_back(grad(sum(exp(w)), {w})[0]);
  }
  EXPECT_THAT(report_leaks(baseline),
              HasSubstr("96 B in 2 blocks of gradients"));
}

TEST_F(HoldersTest, FindsThePartsOfCompositesInComposites) {
  const Baseline baseline;
  const memory::Composite inner(zeros({100}));
  const memory::Composite outer(inner);
  const std::string text = report_leaks(baseline);
  EXPECT_THAT(text, HasSubstr("    f32 [100], 400 B\n"
                              "      held by 1 handle of the tensor made at " +
                              at(__LINE__ - 5) + "\n"));
}

TEST_F(HoldersTest, GrowthNamesWhoHoldsWhatGrew_N5) {
  const Tensor w = leaf("fc1.weight");
  std::vector<Tensor> history;
  Growth growth;
  for (int i = 0; i < 8; ++i) {
    history.push_back(sum(exp(w)));
    growth.step();
  }
  const std::string where = at(__LINE__ - 3);
  const std::string text = growth.format();
  EXPECT_EQ(growth.tensors(), 4);
  EXPECT_THAT(text, HasSubstr("  4 tensors more in the whole program\n"
                              "  one of '', " +
                              where +
                              "\n    f32 [3, 4], 48 B, made by 'exp'\n"
                              "      held by residual 'output 0' of 'exp' ("));
}

TEST_F(HoldersTest, CountsOnlyWhatCameAfterTheBaseline) {
  const Tensor w = leaf("fc1.weight");
  const Tensor old = exp(w);
  const Baseline baseline;
  EXPECT_EQ(report_leaks(baseline), "");
}

TEST_F(HoldersTest, CutsALongChain) {
  const Tensor w = leaf("fc1.weight");
  const Baseline baseline;
  Tensor f = exp(w);
  for (int i = 0; i < 100'000; ++i) {
    f = -f;
  }
  const std::string text = report_leaks(baseline, {.max_links = 4});
  EXPECT_THAT(text, HasSubstr("      held by residual 'output 0' of 'exp'"));
  EXPECT_THAT(text, HasSubstr("      <- ... 99 998 more ...\n"));
  EXPECT_THAT(text, HasSubstr("      <- 1 handle of the 'neg' made at"));
}

TEST_F(HoldersTest, AsksWhoHoldsTheHandlesThatAChainEndsAt) {
  class Names final : public HandleNames {
   public:
    explicit Names(const Tensor& known) : known_(known.shared().get()) {}
    std::vector<std::string> of(const tensor::Body& body) const override {
      return &body == known_ ? std::vector<std::string>{"`history`", "`best`"}
                             : std::vector<std::string>{};
    }

   private:
    const tensor::Body* known_;
  };
  const Tensor w = leaf("fc1.weight");
  const Baseline baseline;
  const Tensor loss = sum(exp(w));
  const std::string where = at(__LINE__ - 1);
  const Names names(loss);
  EXPECT_THAT(report_leaks(baseline, {.names = &names}),
              HasSubstr("      <- 1 handle of the 'reshape' made at " + where +
                        "\n      <- `history`\n      <- `best`\n"));
}

TEST_F(HoldersTest, LooksWithoutChangingTheDomain) {
  const Tensor w = leaf("fc1.weight");
  const Baseline baseline;
  const Tensor loss = sum(exp(w));
  const memory::Stats before = memory::domain().stats();
  EXPECT_NE(report_leaks(baseline), "");
  const memory::Stats after = memory::domain().stats();
  EXPECT_EQ(after.live, before.live);
  EXPECT_EQ(after.allocations, before.allocations);
}

TEST(ReportLeaksTest, SaysHowToSeeChainsWhereNothingIsTracked) {
  const Baseline baseline;
  const Tensor kept = zeros({10});
  const std::string text = report_leaks(baseline);
  EXPECT_THAT(text, HasSubstr("leak: 40 B in 1 block of other"));
  EXPECT_THAT(text, HasSubstr("memory::TrackHandles"));
  EXPECT_THAT(text, Not(HasSubstr("held by")));
}

TEST(ReportLeaksTest, ListsWhatAScopeStillHas) {
  const Tensor w = requires_grad_(ones({3, 4}));
  const memory::Scope scope("step");
  const Tensor y = exp(w);
  const int line = __LINE__ - 1;
  const std::string text = report_leaks(scope);
  EXPECT_THAT(text, HasSubstr("scope opened at "));
  EXPECT_THAT(text, HasSubstr(": 1 tensor alive\n"
                              "    f32 [3, 4], 48 B, made by 'exp'\n"
                              "      held by 1 handle of the 'exp' made at " +
                              at(line) + "\n"));
}

}  // namespace
}  // namespace neap::report
