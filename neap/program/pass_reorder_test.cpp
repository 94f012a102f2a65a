// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/program/order.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"

namespace neap::compiler {
namespace {

constexpr Bytes kLine = 4 * 16;  // of a vector of 16, as a plan counts it

Peak peak_of(const Program& program) {
  const Dataflow flow(program);
  const Memories memories(program, flow);
  Order order(program.calls.size());
  std::iota(order.begin(), order.end(), 0U);
  return Meter(program, flow, memories).measure(order);
}

Bytes reordered(ProgramMaker& maker) {
  run_checked(reorder_for_peak, maker.program);
  return peak_of(maker.program).bytes;
}

ValueId total(ProgramMaker& maker, ValueId id) {
  return maker.call(ops::kSum, {id}, kernels::ReduceAttrs{.axes = 1});
}

TEST(MeterTest, CountsWhatLivesWithinTheRun) {
  ProgramMaker maker;
  const ValueId x = maker.argument({16});
  const ValueId a = maker.call(ops::kExp, {x});     // a
  const ValueId b = maker.call(ops::kExp, {a});     // a, b
  const ValueId c = maker.call(ops::kMul, {a, b});  // over a or b
  maker.result(total(maker, c));
  EXPECT_EQ(peak_of(maker.program).bytes, 2 * kLine);
  EXPECT_EQ(peak_of(maker.program).place, 1U);
  // A product takes nothing over.
  ProgramMaker square;
  const ValueId m = square.call(ops::kExp, {square.argument({4, 4})});
  square.result(square.call(ops::kMatmul, {m, m}));
  EXPECT_EQ(peak_of(square.program).bytes, 2 * kLine);
  // A result that is kept, and what takes an existing memory over, lie
  // elsewhere.
  square.program.results[0].is_kept = true;
  EXPECT_EQ(peak_of(square.program).bytes, kLine);
}

TEST(ReorderPassTest, ProducersComeLate) {
  ProgramMaker maker;
  const ValueId x = maker.argument({64});
  const ValueId early = maker.call(ops::kExp, {x});
  ValueId y = maker.call(ops::kExp, {x});
  for (int i = 0; i < 3; ++i) {
    const ValueId a = maker.call(ops::kExp, {y});
    y = maker.call(ops::kMul, {y, a});
  }
  maker.result(total(maker, maker.call(ops::kMul, {early, y})));
  EXPECT_EQ(peak_of(maker.program).bytes, 3 * 4 * kLine);
  EXPECT_EQ(reordered(maker), 2 * 4 * kLine);
}

TEST(ReorderPassTest, FindsAnOrderAcrossBranches) {
  // Four vectors and their sums, all vectors first.
  ProgramMaker maker;
  const ValueId x = maker.argument({160});
  std::array<ValueId, 4> made;
  for (ValueId& id : made) {
    id = maker.call(ops::kExp, {x});
  }
  ValueId sum = total(maker, made[3]);
  for (int i = 2; i >= 0; --i) {
    sum = maker.call(ops::kAdd,
                     {sum, total(maker, made[static_cast<std::size_t>(i)])});
  }
  maker.result(sum);
  EXPECT_EQ(peak_of(maker.program).bytes, (4 * 10 + 1) * kLine);
  EXPECT_LE(reordered(maker), (10 + 4) * kLine);
}

TEST(ReorderPassTest, AWriteStaysBehindTheReadersOfTheOldValue) {
  ProgramMaker maker;
  const ValueId x = maker.argument({16});
  const ValueId w = maker.parameter({16});
  const ValueId gradient = maker.call(ops::kExp, {x});
  ValueId y = maker.call(ops::kExp, {x});
  for (int i = 0; i < 3; ++i) {
    y = maker.call(ops::kMul, {y, maker.call(ops::kExp, {w})});
  }
  maker.update(w, gradient);
  maker.result(total(maker, y));
  const Bytes before = peak_of(maker.program).bytes;
  EXPECT_LE(reordered(maker), before);
}

TEST(ReorderPassTest, AnOrderThatIsAsGoodIsLeftAlone) {
  ProgramMaker maker;
  const ValueId x = maker.argument({16});
  const ValueId a = maker.call(ops::kExp, {x});
  maker.result(total(maker, a));
  maker.result(total(maker, x));
  reorder_for_peak(maker.program);
  EXPECT_EQ(names_of(maker.program), "exp sum sum");
}

TEST(OrderTest, HoistedCallsFollowWhatTheyNeed) {
  // 3 needs 0; 4 needs 3; 5 needs 1.
  Lists before;
  before.first = {0, 0, 0, 0, 1, 2, 3};
  before.items = {0, 3, 1};
  const Lists after = transposed(before, 6);
  Order order(6);
  std::iota(order.begin(), order.end(), 0U);
  const auto late = [](std::uint32_t call) { return call >= 3; };
  EXPECT_EQ(hoisted(order, before, late), (Order{0, 3, 4, 1, 5, 2}));
  const auto early = [](std::uint32_t call) { return call <= 1; };
  EXPECT_EQ(sunk(order, after, early), (Order{2, 0, 3, 4, 1, 5}));
}

}  // namespace
}  // namespace neap::compiler
