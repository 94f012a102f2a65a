// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "neap/kernels/engine/copy.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/verify.hpp"

namespace neap::compiler {
namespace {

// Writes all of `old` without reading it.
ValueId overwrite(ProgramMaker& maker, ValueId old, ValueId by) {
  Call call;
  call.name = "copy";
  call.kernels = &kernels::copy_kernels;
  return maker.write(call, old, {by});
}

TEST(DeadCodePassTest, CallsWhoseValuesNobodyNeedsGo) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  maker.call(ops::kExp, {maker.call(ops::kRelu, {x})});
  maker.result(maker.call(ops::kMul, {x, x}));
  remove_dead_code(maker.program);
  EXPECT_EQ(names_of(maker.program), "mul");
  EXPECT_EQ(maker.program.values.size(), 2U);
  EXPECT_EQ(maker.program.operands.size(), 3U);
  EXPECT_EQ(fault_of(maker.program), "");
}

TEST(DeadCodePassTest, WritesChecksAndGradientsStayWithWhatTheyNeed) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId w = maker.parameter({4});
  maker.update(w, maker.call(ops::kExp, {x}));
  maker.check(maker.call(ops::kRelu, {x}));
  LeafGrad& grad = maker.program.grads.emplace_back();
  grad.is_set = true;
  grad.last = maker.all_of(maker.call(ops::kMul, {x, x}));
  maker.call(ops::kMul, {x, x});
  remove_dead_code(maker.program);
  EXPECT_EQ(names_of(maker.program), "exp sgd relu check mul");
  EXPECT_EQ(fault_of(maker.program), "");
}

TEST(DeadCodePassTest, WhatIsWrittenOverUnreadGoesAndTheChainCloses) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId y = maker.call(ops::kExp, {x});
  const ValueId first = overwrite(maker, y, maker.call(ops::kRelu, {x}));
  maker.result(overwrite(maker, first, x));
  remove_dead_code(maker.program);
  EXPECT_EQ(names_of(maker.program), "copy");
  EXPECT_EQ(maker.program.values.back().over, kNoValue);
  EXPECT_EQ(fault_of(maker.program), "");
}

TEST(DeadCodePassTest, AWriteIntoAPartNeedsTheRest) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId y = maker.call(ops::kExp, {x});
  const ValueId made = overwrite(maker, y, x);
  const Call& call = maker.program.calls.back();
  for (const std::uint32_t at : {call.outputs.first, call.inputs.first}) {
    maker.relayout(maker.program.operands[at],
                   [](auto& layout) { layout.shape = Shape{2}; });
  }
  maker.result(made);
  remove_dead_code(maker.program);
  EXPECT_EQ(names_of(maker.program), "exp copy");
  EXPECT_EQ(fault_of(maker.program), "");
}

TEST(DeadCodePassTest, ConstantsThatNobodyReadsAreLetGo) {
  ProgramMaker maker;
  const ValueId x = maker.argument({});
  const ValueId unread = maker.constant(1.0);
  const ValueId read = maker.constant(2.0);
  maker.parameter({4});
  maker.call(ops::kMul, {x, unread});
  maker.result(maker.call(ops::kMul, {x, read}));
  remove_dead_code(maker.program);
  ASSERT_EQ(maker.program.externals.size(), 2U);
  EXPECT_EQ(maker.program.externals[0].tensor.item(), 2.0);
  EXPECT_EQ(maker.program.values[1].index, 0U);
  EXPECT_EQ(fault_of(maker.program), "");
}

}  // namespace
}  // namespace neap::compiler
