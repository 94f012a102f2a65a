// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/verify.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/program/programs_for_test.hpp"

namespace neap::compiler {
namespace {

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
  EXPECT_EQ(after([](Small& s) {
              std::swap(s.program.calls[2], s.program.calls[3]);
            }),
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
              s.input(3, 1).layout.strides = Shape{0};
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
            "call 4 (sgd) writes into external 0, which is not to be");
  EXPECT_EQ(after([](Small& s) { s.program.externals[0].is_constant = true; }),
            "external 0 is constant and written");
}

TEST(VerifyTest, OperandsLieInsideTheirValues) {
  EXPECT_EQ(after([](Small& s) { s.input(2, 0).layout.offset = 1; }),
            "call 2 (relu) reaches beyond %2");
  EXPECT_EQ(after([](Small& s) { s.output(2).layout.shape = Shape{2}; }),
            "call 2 (relu) sets only a part of %3");
  EXPECT_EQ(after([](Small& s) { s.program.values[3].spec.space = {1}; }),
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
  const memory::Vector<Call> own = calls;
  std::swap(calls[1], calls[4]);
  EXPECT_EQ(order.fault_of(small.program),
            "write 0 came before a check that it followed");
  calls = own;
  calls.erase(calls.begin() + 1);
  EXPECT_EQ(order.fault_of(small.program),
            "1 checks and effects became 0, or changed order");
  calls = own;
  calls.pop_back();
  EXPECT_EQ(order.fault_of(small.program),
            "1 writes into what exists became 0");
}

}  // namespace
}  // namespace neap::compiler
