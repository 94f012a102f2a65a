// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Writes in a traced step, memory spaces, and memory that runs out.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/rematerialise.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/ops.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "neap/testing/shadow_space.hpp"

namespace neap::compiler {
namespace {

using ::testing::HasSubstr;

Many with(std::initializer_list<Tensor> tensors) {
  return Many(tensors.begin(), tensors.end());
}

// Runs a step that writes into `state` three times as a program and three times
// eagerly, from the same elements.
Program expect_state(Step step, const Many& in, const Tensor& state) {
  const Tensor start = copy(state);
  Program program = trace(step, specs_of(in));
  EXPECT_EQ(bits_of(state), bits_of(start)) << "traced";
  Many traced;
  for (int run = 0; run < 3; ++run) {
    for (const Tensor& result : interpret(program, in)) {
      traced.push_back(copy(result));
    }
  }
  const Tensor end = copy(state);
  copy_(state, start);
  Many eager;
  for (int run = 0; run < 3; ++run) {
    for (const Tensor& result : run_eagerly(step, in)) {
      eager.push_back(copy(result));
    }
  }
  expect_same(eager, traced);
  EXPECT_EQ(bits_of(state), bits_of(end));
  return program;
}

TEST(TraceWritesTest, AWriteIsANewValueOverTheOld) {
  const Tensor state = randn({4});
  const Program program = expect_state(
      [&](In x, Many& out) {
        out.push_back(state + 0.0);
        mul_(state, 0.5);
        add_(state, x[0]);
        out.push_back(state + 0.0);
      },
      with({randn({4})}), state);
  ASSERT_EQ(program.externals.size(), 1U);
  EXPECT_TRUE(program.externals[0].is_written);
  int over = 0;
  for (const Value& value : program.values) {
    over += value.over != kNoValue ? 1 : 0;
  }
  EXPECT_EQ(over, 2);
}

TEST(TraceWritesTest, PartsOfAStorage) {
  const Tensor state = randn({4, 3});
  const Program program = expect_state(
      [&](In x, Many& out) {
        copy_(slice(state, 0, 1, 3), x[0]);
        fill_(slice(state, 1, 0, 1), 7.0);
        out.push_back(sum(state));
      },
      with({randn({2, 3})}), state);
  EXPECT_TRUE(program.calls[0].reads_outputs);
}

TEST(TraceWritesTest, SourcesThatOverlap) {
  const Tensor state = randn({6});
  expect_state(
      [&](In, Many&) {
        copy_(slice(state, 0, 1, 6), slice(state, 0, 0, 5));
        copy_(slice(state, 0, 0, 2), slice(state, 0, 4, 6));
      },
      {}, state);
}

// A kernel would read what it has just written.
TEST(TraceWritesTest, AWriteReadsACopyOfWhatItOverlaps) {
  const Tensor state = arange(6);
  const Tensor from = slice(state, 0, 0, 5);
  const Tensor to = slice(state, 0, 1, 6);
  const Program program = trace(
      [&](In, Many&) {
        graph::trace()->write({.name = "shift",
                               .list = kernels::copy_kernels,
                               .in = std::span(&from, 1),
                               .out = std::span(&to, 1),
                               .attrs = {},
                               .reads_out = false});
      },
      {});
  EXPECT_EQ(program.calls.size(), 2U);
  interpret(program, {});
  EXPECT_EQ(bits_of(state), bits_of(from_values({0, 0, 1, 2, 3, 4}, {6})));
}

TEST(TraceWritesTest, WhatTheStepMakesMayBeWrittenEachRun) {
  const Program program = expect_traced(
      [](In x, Many& out) {
        const Tensor made = from_values({1, 2, 3}, {3});
        out.push_back(made * 2.0);
        add_(made, x[0]);
        out.push_back(made);
        const Tensor zeroed = zeros({3});
        copy_(slice(zeroed, 0, 1, 2), slice(x[0], 0, 0, 1));
        out.push_back(zeroed);
      },
      with({randn({3})}));
  EXPECT_FALSE(program.externals[0].is_written);
}

TEST(TraceWritesTest, ArgumentsMayBeWritten) {
  const Program program = trace([](In x, Many&) { fill_(x[0], 3.0); },
                                std::vector<tensor::Spec>{{f32, {2}, {}}});
  const Many in = with({zeros({2})});
  interpret(program, in);
  EXPECT_EQ(in[0].to_vector()[1], 3);
}

TEST(TraceWritesTest, ABackwardThatNeedsTheOldValueRefuses) {
  const Tensor state = randn({3});
  const Tensor w = requires_grad_(randn({3}));
  EXPECT_THROW(trace(
                   [&](In, Many&) {
                     const Tensor loss = sum(w * state);
                     fill_(state, 0.0);
                     backward(loss);
                   },
                   {}),
               GraphError);
}

TEST(TraceWritesTest, TheHostMayNotLookAtWhatALineWrites) {
  EXPECT_THROW(trace(
                   [](In, Many&) {
                     const Tensor made = from_values({1, 2}, {2});
                     fill_(made, 5.0);
                     made.to_vector();
                   },
                   {}),
               TraceError);
}

TEST(TraceWritesTest, NoneInsideASegment) {
  const Tensor state = randn({3});
  const Tensor w = requires_grad_(randn({3}));
  EXPECT_THROW(trace(
                   [&](In, Many& out) {
                     out.push_back(rematerialise([&](const Tensor& x) {
                       fill_(state, 1.0);
                       return x * state;
                     })(w));
                   },
                   {}),
               Error);
}

TEST(TraceWritesTest, TwoSpacesAndWhatLiesBetween) {
  const testing::ShadowSpace shadow(memory::domain());
  const Many in = with({randn({3, 4})});
  const auto step = [](In x, Many& out) {
    const Tensor there = to(x[0], testing::kShadow);
    out.push_back(to(softmax(there * 2.0, 1), memory::kHost));
  };
  const Program program = expect_traced(step, in);
  int transfers = 0;
  for (const Call& call : program.calls) {
    transfers += call.kind == CallKind::kTransfer ? 1 : 0;
  }
  EXPECT_EQ(transfers, 2);
  EXPECT_EQ(shadow.foreign_views(), 0);
}

TEST(TraceWritesTest, OperandsOfTwoSpacesAreRefused) {
  const testing::ShadowSpace shadow(memory::domain());
  EXPECT_THROW(trace([](In x, Many& out) { out.push_back(x[0] + x[1]); },
                     std::vector<tensor::Spec>{{f32, {2}, {}},
                                               {f32, {2}, testing::kShadow}}),
               DeviceError);
}

TEST(TraceWritesTest, AnotherDomainInsideIsRefused) {
  const auto other = Domain::create();
  EXPECT_THROW(trace(
                   [&](In x, Many& out) {
                     const UseDomain guard(*other);
                     out.push_back(x[0] + x[0]);
                   },
                   std::vector<tensor::Spec>{{f32, {2}, {}}}),
               TraceError);
}

// A traced write takes effect in runs alone; a graph that was recorded before
// the trace still finds the values it saved, one of the trace's own does not.
TEST(TraceWritesTest, VersionsOutsideAreLeftAlone) {
  const Tensor w = requires_grad_(randn({3}));
  const Tensor state = full({3}, 2.0);
  const Tensor loss = sum(w * state);
  const std::uint32_t version = state.array()->storage()->version();
  const std::vector<tensor::Spec> specs{{f32, {3}, {}}};
  trace([&](In x, Many& /*out*/) { add_(state, x[0]); }, specs);
  EXPECT_THROW(trace(
                   [&](In x, Many& /*out*/) {
                     add_(state, x[0]);
                     throw ValueError("no");
                   },
                   specs),
               ValueError);
  EXPECT_THROW(trace(
                   [&](In x, Many& /*out*/) {
                     const Tensor mine = sum(w * state);
                     add_(state, x[0]);
                     backward(mine);
                   },
                   specs),
               GraphError);
  EXPECT_NO_THROW(trace(
      [&](In x, Many& /*out*/) {
        add_(state, x[0]);
        backward(sum(w * state));
      },
      specs));
  EXPECT_EQ(state.array()->storage()->version(), version);
  backward(loss);
  EXPECT_EQ(bits_of(w.grad()), bits_of(state));
}

TEST(TraceWritesTest, MemoryThatRunsOutLeavesEverythingAsBefore) {
  const auto domain = Domain::create();
  const UseDomain guard(*domain);
  Generator generator(3);
  const UseGenerator draws(generator);
  const Tensor w = requires_grad_(randn({4, 4}));
  const Tensor state = randn({4});
  set_grad(w, randn({4, 4}));
  const Tensor before = copy(w.grad());
  const auto start = generator.state();
  const std::vector<tensor::Spec> specs{{f32, {3, 4}, {}}, {i64, {3}, {}}};
  const auto step = [&](In x, Many& out) {
    zero_grad(std::span(&w, 1));
    const auto block = rematerialise(
        [&](const Tensor& h) { return dropout(matmul(h, w), 0.2); });
    const Tensor loss =
        cross_entropy(relu(block(x[0])) + from_values({1, 2, 3, 4}, {4}), x[1]);
    backward(loss);
    add_(state, sum(w.grad(), {0}));
    out.push_back(loss);
  };
  const auto result = testing::sweep_allocation_failures(
      *domain, [&] { trace(step, specs); },
      [&](std::int64_t n) {
        EXPECT_EQ(bits_of(w.grad()), bits_of(before)) << n;
        EXPECT_EQ(generator.state().draw, start.draw) << n;
      });
  EXPECT_TRUE(result.ok()) << result.problems.front();
  EXPECT_GT(result.failures, 100);
}

}  // namespace
}  // namespace neap::compiler
