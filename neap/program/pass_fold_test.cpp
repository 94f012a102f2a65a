// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/verify.hpp"

namespace neap::compiler {
namespace {

TEST(FoldPassTest, WhatHangsOnConstantsAloneIsComputedOnce) {
  ProgramMaker maker;
  const ValueId x = maker.argument({});
  const ValueId two = maker.fill({}, 2.0);
  const ValueId five = maker.call(ops::kAdd, {two, maker.constant(3.0)});
  maker.result(maker.call(ops::kMul, {x, five}));
  fold_constants(maker.program);
  EXPECT_EQ(names_of(maker.program), "mul");
  EXPECT_EQ(fault_of(maker.program), "");
  // 2 and 3 went with the calls that read them.
  ASSERT_EQ(maker.program.externals.size(), 1U);
  EXPECT_TRUE(maker.program.externals[0].is_constant);
  EXPECT_EQ(maker.program.externals[0].tensor.item(), 5.0);
}

TEST(FoldPassTest, ViewsOfConstantsAreRead) {
  ProgramMaker maker;
  const ValueId pair = maker.external(from_values({1.0, 2.0}, {2}), true);
  const Operand second = maker.view(pair, {DType::kF32, {}, {}, 1});
  const ValueId sum = maker.call_on(ops::kAdd, std::array{second, second});
  const ValueId x = maker.argument({});
  maker.result(maker.call(ops::kMul, {x, sum}));
  fold_constants(maker.program);
  ASSERT_EQ(maker.program.externals.size(), 1U);
  EXPECT_EQ(maker.program.externals[0].tensor.item(), 4.0);
}

TEST(FoldPassTest, LargeOnesAreMadeInEachRun) {
  ProgramMaker maker;
  const ValueId x = maker.argument({});
  maker.result(maker.call(ops::kMul, {x, maker.fill({1025}, 2.0)}));
  fold_constants(maker.program);
  EXPECT_EQ(names_of(maker.program), "fill mul");
}

TEST(FoldPassTest, TheSumIsBounded) {
  ProgramMaker maker;
  ValueId sum = maker.argument({1024});
  for (int i = 0; i < 20; ++i) {
    sum = maker.call(ops::kMul, {sum, maker.fill({1024}, 2.0)});
  }
  maker.result(sum);
  fold_constants(maker.program);
  EXPECT_EQ(maker.program.externals.size(), 16U);
  EXPECT_EQ(maker.program.calls.size(), 24U);
  EXPECT_EQ(fault_of(maker.program), "");
}

TEST(FoldPassTest, ParametersChanceAndWrittenValuesAreNoConstants) {
  ProgramMaker maker;
  maker.result(maker.call(ops::kExp, {maker.parameter({4})}));
  const kernels::DropoutAttrs attrs{.p = 0.5, .key = {.seed = 1, .draw = 7}};
  maker.result(maker.call(ops::kDropout, {maker.constant(1.0)}, attrs));
  const ValueId base = maker.fill({}, 1.0);
  maker.result(maker.update(base, maker.argument({})));
  fold_constants(maker.program);
  EXPECT_EQ(names_of(maker.program), "exp dropout fill sgd");
  EXPECT_EQ(fault_of(maker.program), "");
}

TEST(FoldPassTest, AResultIsTheCallersToWriteAndIsMadeAnew) {
  ProgramMaker maker;
  maker.result(maker.fill({}, 1.0));
  fold_constants(maker.program);
  EXPECT_EQ(names_of(maker.program), "fill");
}

}  // namespace
}  // namespace neap::compiler
