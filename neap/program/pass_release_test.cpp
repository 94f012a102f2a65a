// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/verify.hpp"

namespace neap::compiler {
namespace {

std::string released(ProgramMaker& maker) {
  run_checked(release_gradients, maker.program);
  return names_of(maker.program);
}

TEST(ReleasePassTest, AnUpdateFollowsItsGradient) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId v = maker.parameter({4});
  const ValueId w = maker.parameter({4});
  const ValueId dv = maker.call(ops::kExp, {x});
  const ValueId dw = maker.call(ops::kRelu, {x});
  maker.update(v, dv);
  maker.update(w, dw);
  EXPECT_EQ(released(maker), "exp sgd relu sgd");
  EXPECT_EQ(
      maker.program[maker.program.in(maker.program.calls[1])[0].value].index,
      0U);
}

TEST(ReleasePassTest, TheLastReaderOfTheOldParameterComesFirst) {
  // Tied weights: w is used twice more after its gradient is there.
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId w = maker.parameter({4});
  const ValueId dw = maker.call(ops::kExp, {x});
  const ValueId y = maker.call(ops::kMul, {x, w});
  maker.result(maker.call(ops::kMul, {y, w}));
  maker.result(maker.call(ops::kRelu, {x}));
  maker.update(w, dw);
  EXPECT_EQ(released(maker), "exp mul mul sgd relu");
}

TEST(ReleasePassTest, AReaderOfTheOldParameterMovedBehindIsSeen) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId w = maker.parameter({4});
  const ValueId dw = maker.call(ops::kExp, {x});
  maker.result(maker.call(ops::kMul, {x, w}));
  maker.update(w, dw);
  auto& calls = maker.program.calls;
  calls.swap(1, 2);
  maker.program.values[3].index = 2;
  maker.program.values[4].index = 1;
  EXPECT_EQ(fault_of(maker.program),
            "call 2 (mul) reads %1 after another value took its memory over");
}

TEST(ReleasePassTest, NoUpdateOvertakesACheckThatItFollowed) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId w = maker.parameter({4});
  const ValueId dw = maker.call(ops::kExp, {x});
  maker.check(maker.call(ops::kRelu, {x}));
  maker.call(ops::kMul, {x, x});
  maker.update(w, dw);
  EXPECT_EQ(released(maker), "exp relu check sgd mul");
}

TEST(ReleasePassTest, WhatReadsTheNewParameterStaysBehind) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId w = maker.parameter({4});
  const ValueId dw = maker.call(ops::kExp, {x});
  maker.call(ops::kRelu, {x});
  const ValueId once = maker.update(w, dw);
  const ValueId twice = maker.update(once, dw);
  maker.result(maker.call(ops::kMul, {x, twice}));
  EXPECT_EQ(released(maker), "exp sgd sgd relu mul");
}

}  // namespace
}  // namespace neap::compiler
