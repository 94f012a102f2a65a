// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "neap/compile/compile.hpp"
#include "neap/compile/trace.hpp"
#include "neap/ops/ops.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/run_for_test.hpp"
#include "neap/program/verify.hpp"

namespace neap::compiler {
namespace {

// The calls after the pass.
std::string fused(ProgramMaker& maker) {
  run_checked(fuse_elementwise, maker.program);
  return names_of(maker.program);
}

TEST(FusePassTest, AChainIsOneCall) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4, 5});
  const ValueId row = maker.parameter({5});
  const ValueId y = maker.call(ops::kExp, {maker.call(ops::kAdd, {x, row})});
  maker.result(maker.call(ops::kMul, {y, x}));
  EXPECT_EQ(fused(maker), "fused");
  const Call& call = maker.program.calls[0];
  EXPECT_EQ(call.members.count, 3U);
  ASSERT_EQ(call.inputs.count, 2U);
  EXPECT_EQ(maker.program.in(call)[1].layout->strides, (Shape{0, 1}));
  EXPECT_EQ(call.outputs.count, 1U);
}

TEST(FusePassTest, WhatOthersReadIsAnOutput) {
  ProgramMaker maker;
  const ValueId y = maker.call(ops::kExp, {maker.argument({4})});
  const ValueId z = maker.call(ops::kRelu, {y});
  maker.result(maker.call(ops::kSum, {y}, kernels::ReduceAttrs{1}));
  maker.result(z);
  EXPECT_EQ(fused(maker), "fused sum");
  EXPECT_EQ(maker.program.calls[0].outputs.count, 2U);
}

TEST(FusePassTest, NoCallMovesBehindAReaderOfIt) {
  ProgramMaker maker;
  const ValueId y = maker.call(ops::kExp, {maker.argument({4, 4})});
  const ValueId z = maker.call(ops::kMatmul, {y, y});
  maker.result(maker.call(ops::kAdd, {y, z}));
  EXPECT_EQ(fused(maker), "exp matmul add");
}

TEST(FusePassTest, NoCallMovesBehindAWriteOverWhatItReads) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId w = maker.parameter({4});
  const ValueId y = maker.call(ops::kMul, {x, w});
  maker.update(w, x);
  maker.result(maker.call(ops::kRelu, {y}));
  EXPECT_EQ(fused(maker), "mul sgd relu");
}

TEST(FusePassTest, AWriteIsNoMember) {
  ProgramMaker maker;
  const ValueId w = maker.parameter({4});
  const ValueId g = maker.call(ops::kMul, {w, maker.argument({4})});
  maker.update(w, maker.call(ops::kExp, {g}));
  EXPECT_EQ(fused(maker), "fused sgd");
}

TEST(FusePassTest, ACallMovesBackWhereThatHoldsNoMore) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4, 4});
  const ValueId y = maker.call(ops::kExp, {x});
  maker.result(maker.call(ops::kMatmul, {x, x}));
  maker.result(maker.call(ops::kRelu, {y}));
  EXPECT_EQ(fused(maker), "matmul fused");
}

TEST(FusePassTest, ACallThatWouldHoldMoreStays) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4, 4});
  const ValueId a = maker.call(ops::kMatmul, {x, x});
  const ValueId b = maker.call(ops::kMatmul, {a, x});
  const ValueId y = maker.call(ops::kAdd, {a, b});
  maker.result(maker.call(ops::kMatmul, {x, x}));
  maker.result(maker.call(ops::kRelu, {y}));
  EXPECT_EQ(fused(maker), "matmul matmul add matmul relu");
}

TEST(FusePassTest, TwoReadersOfOneValueGoSideBySide) {
  ProgramMaker maker;
  const ValueId g = maker.argument({4});
  maker.result(maker.call(ops::kMul, {g, maker.argument({4})}));
  maker.result(maker.call(ops::kMul, {g, maker.argument({4})}));
  EXPECT_EQ(fused(maker), "fused");
  EXPECT_EQ(maker.program.calls[0].inputs.count, 3U);
}

TEST(FusePassTest, TwoChainsMeet) {
  ProgramMaker maker;
  const ValueId a = maker.call(ops::kExp, {maker.argument({4})});
  const ValueId b = maker.call(ops::kExp, {maker.argument({4})});
  maker.result(maker.call(ops::kAdd, {a, b}));
  EXPECT_EQ(fused(maker), "fused");
}

TEST(FusePassTest, OtherLengthsAndSegmentsStayApart) {
  ProgramMaker maker;
  const ValueId row = maker.call(ops::kExp, {maker.argument({4})});
  const ValueId y = maker.call(ops::kAdd, {row, maker.argument({3, 4})});
  maker.result(maker.call(ops::kRelu, {y}));
  maker.program.calls[2].segment = 1;
  EXPECT_EQ(fused(maker), "exp add relu");
}

TEST(FusePassTest, AnOutputTakesOverAnInputThatEndsInTheCall) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4, 4});
  const ValueId a = maker.call(ops::kMatmul, {x, x});
  const ValueId y = maker.call(ops::kExp, {maker.call(ops::kAdd, {a, x})});
  maker.result(y);
  fuse_elementwise(maker.program);
  take_over_inputs(maker.program);
  EXPECT_EQ(maker.program[y].over, a);
  EXPECT_EQ(fault_of(maker.program), "");
}

TEST(FusePassTest, AnInputThatALaterMemberReadsIsNotTakenOver) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4, 4});
  const ValueId a = maker.call(ops::kMatmul, {x, x});
  const ValueId y = maker.call(ops::kExp, {a});
  const ValueId z = maker.call(ops::kMul, {y, a});
  maker.result(y);
  maker.result(z);
  EXPECT_EQ(fused(maker), "matmul fused");
  take_over_inputs(maker.program);
  EXPECT_EQ(maker.program[y].over, kNoValue);
  EXPECT_EQ(maker.program[z].over, a);
  EXPECT_EQ(fault_of(maker.program), "");
  maker.program[z].over = kNoValue;
  maker.program[y].over = a;
  EXPECT_NE(fault_of(maker.program), "");
}

// Any ops on x and y of {6, 40}, on rows and columns of them and on views.
void random_step(unsigned seed, std::span<const Tensor> in,
                 memory::Vector<Tensor>& out) {
  std::mt19937 random(seed);
  memory::Vector<Tensor> all{in[0], in[1]};
  const auto pick = [&] {
    return all[all.size() - 1 - std::min(random(), random()) % all.size()];
  };
  const int count = 3 + static_cast<int>(random() % 20);
  for (int i = 0; i < count; ++i) {
    const Tensor a = pick();
    switch (random() % 12) {
      case 0:
        all.push_back(tanh(a));
        break;
      case 1:
        all.push_back(relu(a));
        break;
      case 2:
        all.push_back(a + in[2]);
        break;
      case 3:
        all.push_back(a * in[3]);
        break;
      case 4:
        all.push_back(dropout(a, 0.3, true));
        break;
      case 5:
        all.push_back(a - sum(pick(), {1}, true));
        break;
      case 6:
        all.push_back(reshape(reshape(a, {2, 3, 40}) * 0.5, {6, 40}));
        break;
      case 7:
        all.push_back(where(a > pick(), a, pick()));
        break;
      case 8:
        all.push_back(a * transpose(reshape(pick(), {40, 6}), 0, 1));
        break;
      case 9:
        all.push_back(cast(cast(a, DType::kF64) * 0.5, DType::kF32));
        break;
      case 10:
        out.push_back(a);
        break;
      default:
        all.push_back(a * pick());
        break;
    }
  }
  out.push_back(all.back());
}

TEST(FusePassTest, RandomStepsKeepTheirBits) {
  const memory::Vector<Tensor> arguments{randn({6, 40}), randn({6, 40}),
                                         randn({40}), randn({6, 1})};
  memory::Vector<tensor::Spec> specs;
  for (const Tensor& argument : arguments) {
    specs.push_back(argument.spec());
  }
  std::size_t members = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const auto step = [&](std::span<const Tensor> in,
                          memory::Vector<Tensor>& out) {
      random_step(seed, in, out);
    };
    Program plain = trace(step, specs);
    Program program = trace(step, specs);
    const EffectOrder order(program);
    fuse_elementwise(program);
    ASSERT_EQ(fault_of(program), "") << seed;
    ASSERT_EQ(order.fault_of(program), "") << seed;
    const auto want = TestRun(plain, arguments).run();
    ASSERT_EQ(TestRun(program, arguments).run(), want) << seed;
    members += program.members.size();

    Program all = trace(step, specs);
    run_passes(all);
    ASSERT_EQ(fault_of(all), "") << seed;
    ASSERT_EQ(TestRun(all, arguments).run(), want) << seed;
  }
  EXPECT_GT(members, 1000U);
}

TEST(FusePassTest, CompiledStepsRunFusedCalls) {
  const memory::Vector<Tensor> arguments{randn({6, 40}), randn({6, 40}),
                                         randn({40}), randn({6, 1})};
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto step = [seed](const Tensor& a, const Tensor& b, const Tensor& c,
                             const Tensor& d) {
      memory::Vector<Tensor> results;
      random_step(seed, memory::Vector<Tensor>{a, b, c, d}, results);
      return results;
    };
    auto compiled = neap::compile(step);
    Generator generator(seed);
    const UseGenerator guard(generator);
    for (int run = 0; run < 2; ++run) {
      const base::DrawKey before = generator.state();
      const auto got =
          compiled(arguments[0], arguments[1], arguments[2], arguments[3]);
      generator.set_state(before);
      const auto want =
          step(arguments[0], arguments[1], arguments[2], arguments[3]);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t k = 0; k < got.size(); ++k) {
        ASSERT_EQ(dense_bytes(got[k]), dense_bytes(want[k])) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace neap::compiler
