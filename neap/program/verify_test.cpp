// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/verify.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/program/programs_for_test.hpp"

namespace neap::compiler {
namespace {

using testing::HasSubstr;

// %0: argument, %1: a parameter; %2 = mul(%0, %1); %3 = relu(%2);
// %4 = add(%3, %2); %5 over %1 = sgd(%4); result %4.
struct Small : ProgramMaker {
  Small() {
    const ValueId x = argument({4});
    const ValueId w = parameter({4});
    const ValueId y = call(ops::kMul, {x, w});
    check(y);
    const ValueId z = call(ops::kRelu, {y});
    const ValueId sum = call(ops::kAdd, {z, y});
    update(w, sum);
    result(sum);
  }
  Operand& input(std::size_t call, std::uint32_t k) {
    return program.operands[program.calls[call].inputs.first + k];
  }
  Operand& output(std::size_t call) {
    return program.operands[program.calls[call].outputs.first];
  }
};

std::string after(const std::function<void(Small&)>& change) {
  Small small;
  change(small);
  return fault_of(small.program);
}

TEST(VerifyTest, AcceptsAWholeProgram) {
  EXPECT_EQ(after([](Small&) {}), "");
}

TEST(VerifyTest, AValueIsSetBeforeItIsRead) {
  EXPECT_EQ(after([](Small& s) { s.input(2, 0).value = {4}; }),
            "call 2 (relu) reads %4 before it is set");
  EXPECT_EQ(after([](Small& s) { s.program.calls.swap(2, 3); }),
            "call 2 (add) reads %3 before it is set");
}

TEST(VerifyTest, AValueIsSetOnceByItsOwnCall) {
  EXPECT_EQ(after([](Small& s) { s.output(3).value = {3}; }),
            "call 3 (add) sets %3, which is not its own");
  EXPECT_EQ(after([](Small& s) {
              s.program.calls.push_back(s.program.calls[3]);
              s.program.values[4].index = 5;
            }),
            "call 3 (add) sets %4, which is not its own");
}

TEST(VerifyTest, NobodyReadsWhatWasTakenOver) {
  // relu takes over what add reads afterwards.
  EXPECT_EQ(after([](Small& s) { s.program.values[3].over = {2}; }),
            "call 3 (add) reads %2 after another value took its memory over");
  // The parameter is read after its update.
  EXPECT_EQ(after([](Small& s) {
              s.input(3, 0).value = {1};
              s.program.values[2].over = {1};
              s.program.externals[0].is_written = true;
            }),
            "call 3 (add) reads %1 after another value took its memory over");
}

TEST(VerifyTest, AMemoryIsHandedOnToOneValueAtATime) {
  EXPECT_EQ(after([](Small& s) {
              s.program.values[3].over = {2};
              s.program.values[4].over = {2};
            }),
            "call 3 (add) reads %2 after another value took its memory over");
  EXPECT_EQ(after([](Small& s) {
              s.program.values[3].over = {2};
              s.input(3, 1).value = {3};
              s.program.values[4].over = {2};
            }),
            "call 3 (add): %4 takes over what is not there");
}

TEST(VerifyTest, TakesOverElementByElementOnlyWhereTheOpMay) {
  EXPECT_EQ(after([](Small& s) { s.program.values[4].over = {2}; }), "");
  EXPECT_EQ(after([](Small& s) {
              s.program.values[4].over = {2};
              s.relayout(s.input(3, 1),
                         [](auto& layout) { layout.strides = Shape{0}; });
            }),
            "call 3 (add) reads %2 while %4 takes its memory over");
  ProgramMaker maker;
  const ValueId x = maker.argument({});
  const ValueId y = maker.call(ops::kRelu, {x});
  const ValueId sum = maker.call(ops::kSumOfSquares, {y});
  EXPECT_EQ(fault_of(maker.program), "");
  maker.program[sum].over = y;
  EXPECT_NE(fault_of(maker.program), "");
}

TEST(VerifyTest, WhatExistsIsWrittenWhereTheTablesSaySo) {
  EXPECT_EQ(after([](Small& s) { s.program.externals[0].is_written = false; }),
            "call 4 (sgd) writes into external 0, which is not to be written");
  EXPECT_EQ(after([](Small& s) { s.program.externals[0].is_constant = true; }),
            "external 0 is constant and written");
}

TEST(VerifyTest, OperandsLieInsideTheirValues) {
  EXPECT_EQ(after([](Small& s) {
              s.relayout(s.input(2, 0), [](auto& at) { at.offset = 1; });
            }),
            "call 2 (relu) reaches beyond %2");
  EXPECT_EQ(after([](Small& s) {
              s.relayout(s.output(2), [](auto& at) { at.shape = Shape{2}; });
            }),
            "call 2 (relu) sets only a part of %3");
  EXPECT_EQ(after([](Small& s) {
              s.program.respec({3}, [](auto& spec) { spec.space = {1}; });
            }),
            "call 2 (relu) of space 0 reaches for %3 in space 1");
}

TEST(VerifyTest, ResultsAreThereAtTheEnd) {
  EXPECT_EQ(after([](Small& s) { s.program.results[0].operand.value = {1}; }),
            "a result is not there at the end");
}

TEST(EffectOrderTest, ChecksAndWritesKeepTheirOrder) {
  Small small;
  const EffectOrder order(small.program);
  EXPECT_EQ(order.fault_of(small.program), "");
  auto& calls = small.program.calls;
  const CallTable own = calls;
  calls.swap(1, 4);
  EXPECT_EQ(order.fault_of(small.program),
            "write 0 came before a check that it followed");
  calls = own;
  calls.erase(1);
  EXPECT_EQ(order.fault_of(small.program),
            "1 checks and effects became 0, or changed order");
  calls = own;
  calls.erase(calls.size() - 1);
  EXPECT_EQ(order.fault_of(small.program),
            "1 writes into what exists became 0");
}

// %1 = exp(%0), moved as `moves` does; the result is exp of what that gives.
std::string after_moves(
    const std::function<ValueId(ProgramMaker&, ValueId)>& moves) {
  ProgramMaker maker;
  const ValueId kept = maker.call(ops::kExp, {maker.argument({16, 16})});
  maker.result(maker.call(ops::kExp, {moves(maker, kept)}));
  return fault_of(maker.program);
}

TEST(VerifyTest, MovesAreAwaited) {
  const auto good = [](ProgramMaker& maker, ValueId kept) {
    maker.move(CallKind::kSpill, kept);
    maker.move(CallKind::kAwait, kept);
    const ValueId fetched = maker.fetch(kept);
    maker.move(CallKind::kAwait, fetched);
    return fetched;
  };
  EXPECT_EQ(after_moves(good), "");
  EXPECT_THAT(after_moves([](ProgramMaker& maker, ValueId kept) {
                maker.move(CallKind::kSpill, kept);
                maker.move(CallKind::kAwait, kept);
                return maker.fetch(kept);
              }),
              HasSubstr("before it is fetched"));
  EXPECT_THAT(after_moves([](ProgramMaker& maker, ValueId kept) {
                maker.move(CallKind::kSpill, kept);
                return kept;
              }),
              HasSubstr("still moved at the end"));
  EXPECT_THAT(after_moves([](ProgramMaker& maker, ValueId kept) {
                maker.move(CallKind::kAwait, kept);
                return kept;
              }),
              HasSubstr("not moved"));
  EXPECT_THAT(after_moves([](ProgramMaker& maker, ValueId kept) {
                maker.move(CallKind::kSpill, kept);
                maker.move(CallKind::kSpill, kept);
                return kept;
              }),
              HasSubstr("still moved"));
}

TEST(VerifyTest, WhatIsFetchedWasWrittenAndIsWhole) {
  EXPECT_THAT(after_moves([](ProgramMaker& maker, ValueId kept) {
                const ValueId fetched = maker.fetch(kept);
                maker.move(CallKind::kAwait, fetched);
                return fetched;
              }),
              HasSubstr("was not written"));
  const auto spills = [](Bytes slot) {
    return [slot](ProgramMaker& maker, ValueId kept) {
      maker.program.slots.push_back({0, slot});
      maker.move(CallKind::kSpill, kept);
      maker.move(CallKind::kAwait, kept);
      return kept;
    };
  };
  EXPECT_EQ(after_moves(spills(kSpillUnit)), "");
  EXPECT_THAT(after_moves(spills(64)), HasSubstr("only a part"));
}

}  // namespace
}  // namespace neap::compiler
