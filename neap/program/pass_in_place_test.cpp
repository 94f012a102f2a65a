// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/verify.hpp"

namespace neap::compiler {
namespace {

// The value that the last value takes over, after the pass.
ValueId taken(ProgramMaker& maker) {
  take_over_inputs(maker.program);
  EXPECT_EQ(fault_of(maker.program), "");
  return maker.program.values.back().over;
}

TEST(InPlacePassTest, AnInputThatEndsIsTakenOver) {
  ProgramMaker maker;
  const ValueId y = maker.call(ops::kExp, {maker.argument({4})});
  maker.result(maker.call(ops::kRelu, {y}));
  EXPECT_EQ(taken(maker), y);
}

TEST(InPlacePassTest, AChainIsOneMemory) {
  ProgramMaker maker;
  ValueId y = maker.call(ops::kExp, {maker.argument({4})});
  for (int i = 0; i < 3; ++i) {
    const ValueId next = maker.call(ops::kRelu, {y});
    y = next;
  }
  maker.result(y);
  take_over_inputs(maker.program);
  EXPECT_EQ(fault_of(maker.program), "");
  for (std::uint32_t v = 2; v < 5; ++v) {
    EXPECT_EQ(maker.program.values[v].over, ValueId{v - 1});
  }
}

TEST(InPlacePassTest, TheSameInputTwiceIsFine) {
  ProgramMaker maker;
  const ValueId y = maker.call(ops::kExp, {maker.argument({4})});
  maker.result(maker.call(ops::kAdd, {y, y}));
  EXPECT_EQ(taken(maker), y);
}

TEST(InPlacePassTest, WhatIsReadLaterIsNot) {
  ProgramMaker maker;
  const ValueId y = maker.call(ops::kExp, {maker.argument({4})});
  const ValueId z = maker.call(ops::kRelu, {y});
  maker.result(maker.call(ops::kAdd, {y, z}));
  EXPECT_EQ(taken(maker), y);
  EXPECT_EQ(maker.program[z].over, kNoValue);
}

TEST(InPlacePassTest, ArgumentsParametersConstantsAndResultsAreNot) {
  for (int which = 0; which < 4; ++which) {
    ProgramMaker maker;
    const ValueId input = which == 0   ? maker.argument({})
                          : which == 1 ? maker.parameter({})
                          : which == 2
                              ? maker.constant(1.0)
                              : maker.call(ops::kExp, {maker.argument({})});
    if (which == 3) {
      maker.result(input);
    }
    maker.result(maker.call(ops::kRelu, {input}));
    EXPECT_EQ(taken(maker), kNoValue) << which;
  }
}

TEST(InPlacePassTest, AViewIsNot) {
  ProgramMaker maker;
  const ValueId y = maker.call(ops::kExp, {maker.argument({2, 2})});
  maker.result(maker.call_on(ops::kRelu, std::array{maker.turned(y)}));
  EXPECT_EQ(taken(maker), kNoValue);
}

TEST(InPlacePassTest, AnotherWayToReadTheSameForbidsIt) {
  ProgramMaker maker;
  const ValueId y = maker.call(ops::kExp, {maker.argument({2, 2})});
  maker.result(
      maker.call_on(ops::kAdd, std::array{maker.all_of(y), maker.turned(y)}));
  EXPECT_EQ(taken(maker), kNoValue);
  // The checker sees it, if it is done all the same.
  maker.program.values.back().over = y;
  EXPECT_NE(fault_of(maker.program), "");
}

TEST(InPlacePassTest, TheOpMustAllowIt) {
  ProgramMaker maker;
  const ValueId y = maker.call(ops::kExp, {maker.argument({2, 2})});
  maker.result(maker.call(ops::kMatmul, {y, y}));
  EXPECT_EQ(taken(maker), kNoValue);
}

TEST(InPlacePassTest, OneMemoryGoesToOneValue) {
  ProgramMaker maker;
  const ValueId a = maker.call(ops::kExp, {maker.argument({4})});
  const ValueId b = maker.call(ops::kExp, {a});
  const ValueId sum = maker.call(ops::kAdd, {a, b});
  maker.result(sum);
  take_over_inputs(maker.program);
  EXPECT_EQ(maker.program[b].over, kNoValue);
  EXPECT_EQ(maker.program[sum].over, a);
  EXPECT_EQ(fault_of(maker.program), "");
}

}  // namespace
}  // namespace neap::compiler
