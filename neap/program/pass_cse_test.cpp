// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/program/order.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/verify.hpp"

namespace neap::compiler {
namespace {

// exp(x) twice, joined, after what `change` does to the second.
template <class Change>
std::string merged(const Change& change) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId first = maker.call(ops::kExp, {x});
  const ValueId second = maker.call(ops::kExp, {x});
  maker.result(maker.call(ops::kAdd, {first, second}));
  change(maker);
  merge_common(maker.program);
  EXPECT_EQ(fault_of(maker.program), "");
  return names_of(maker.program);
}

TEST(CommonPassTest, TheLaterOfTwoGoes) {
  EXPECT_EQ(merged([](ProgramMaker&) {}), "exp add");
}

TEST(CommonPassTest, WhatFollowsFromEqualsIsEqual) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId a = maker.call(ops::kRelu, {maker.call(ops::kExp, {x})});
  const ValueId b = maker.call(ops::kRelu, {maker.call(ops::kExp, {x})});
  maker.result(maker.call(ops::kMul, {a, b}));
  merge_common(maker.program);
  EXPECT_EQ(names_of(maker.program), "exp relu mul");
  EXPECT_EQ(fault_of(maker.program), "");
}

TEST(CommonPassTest, OtherLayoutsAndOperandsAreOthers) {
  EXPECT_EQ(merged([](ProgramMaker& maker) {
              maker.relayout(maker.program.operands[2],
                             [](auto& layout) { layout.strides = Shape{0}; });
            }),
            "exp exp add");
  EXPECT_EQ(merged([](ProgramMaker& maker) {
              maker.program.operands[2].value = maker.parameter({4});
            }),
            "exp exp add");
}

TEST(CommonPassTest, ASegmentThatRunsAgainDoesSo) {
  EXPECT_EQ(merged([](ProgramMaker& maker) {
              maker.program.calls.change(1,
                                         [](Call& call) { call.segment = 1; });
            }),
            "exp exp add");
}

TEST(CommonPassTest, WhatIsWrittenOverLaterIsNotShared) {
  EXPECT_EQ(
      merged([](ProgramMaker& maker) { maker.program.values[3].over = {2}; }),
      "exp exp add");
}

TEST(CommonPassTest, TwoResultsStayTwo) {
  EXPECT_EQ(merged([](ProgramMaker& maker) {
              maker.result({1});
              maker.result({2});
            }),
            "exp exp add");
  EXPECT_EQ(merged([](ProgramMaker& maker) { maker.result({2}); }), "exp add");
}

TEST(CommonPassTest, AmongThreeEqualsOneStandsForAtMostOneResult) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId used = maker.call(ops::kExp, {x});
  maker.call(ops::kRelu, {used});
  maker.result(maker.call(ops::kExp, {x}));
  maker.result(maker.call(ops::kExp, {x}));
  merge_common(maker.program);
  EXPECT_EQ(names_of(maker.program), "exp relu exp");
  EXPECT_NE(maker.program.results[0].operand.value,
            maker.program.results[1].operand.value);
  EXPECT_EQ(fault_of(maker.program), "");
}

TEST(CommonPassTest, ProductsOfAnotherPrecisionAreOthers) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4, 4});
  kernels::ProductAttrs attrs;
  const ValueId a = maker.call(ops::kMatmul, {x, x}, attrs);
  const ValueId b = maker.call(ops::kMatmul, {x, x}, attrs);
  attrs.precision = kernels::Precision::kBf16;
  const ValueId c = maker.call(ops::kMatmul, {x, x}, attrs);
  maker.result(maker.call(ops::kAdd, {maker.call(ops::kAdd, {a, b}), c}));
  merge_common(maker.program);
  EXPECT_EQ(names_of(maker.program), "matmul matmul add add");
}

TEST(CommonPassTest, EqualDrawsAreEqualAndOthersAreNot) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  kernels::DropoutAttrs attrs{.p = 0.5, .key = {.seed = 1, .draw = 7}};
  const ValueId a = maker.call(ops::kDropout, {x}, attrs);
  const ValueId b = maker.call(ops::kDropout, {x}, attrs);
  attrs.key.draw = 8;
  const ValueId c = maker.call(ops::kDropout, {x}, attrs);
  maker.result(maker.call(ops::kAdd, {maker.call(ops::kAdd, {a, b}), c}));
  merge_common(maker.program);
  EXPECT_EQ(names_of(maker.program), "dropout dropout add add");
  EXPECT_EQ(fault_of(maker.program), "");
}

// exp(x) is made at the start and at the end; in between much is needed, in the
// first case more than at the end.
std::string with_a_gap(std::int64_t wide) {
  ProgramMaker maker;
  const ValueId x = maker.argument({64});
  const ValueId y = maker.argument({wide});
  const ValueId first = maker.call(ops::kExp, {x});
  maker.result(maker.call(ops::kMul, {first, x}));
  const ValueId big = maker.call(ops::kMul, {y, y});
  maker.call(ops::kAdd, {big, y});
  const ValueId again = maker.call(ops::kExp, {x});
  const ValueId z = maker.call(ops::kAdd, {again, x});
  maker.result(maker.call(ops::kMul, {z, again}));
  const auto peak = [&] {
    const Dataflow flow(maker.program);
    const Memories memories(maker.program, flow);
    Order order(maker.program.calls.size());
    std::iota(order.begin(), order.end(), 0U);
    return Meter(maker.program, flow, memories).measure(order).bytes;
  };
  const Bytes before = peak();
  merge_common(maker.program);
  EXPECT_LE(peak(), before);
  EXPECT_EQ(fault_of(maker.program), "");
  return names_of(maker.program);
}

TEST(CommonPassTest, NothingIsKeptThroughThePeak) {
  EXPECT_EQ(with_a_gap(1024), "exp mul mul add exp add mul");
  EXPECT_EQ(with_a_gap(16), "exp mul mul add add mul");
}

TEST(CommonPassTest, FillsAreMadeAgainAsTheyAreCheaperThanTheirMemory) {
  ProgramMaker maker;
  maker.result(
      maker.call(ops::kAdd, {maker.fill({4}, 1.0), maker.fill({4}, 1.0)}));
  merge_common(maker.program);
  EXPECT_EQ(names_of(maker.program), "fill fill add");
}

}  // namespace
}  // namespace neap::compiler
