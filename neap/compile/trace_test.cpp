// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/trace_test.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "neap/autograd/backward.hpp"
#include "neap/data/loader.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/ops.hpp"

namespace neap::compiler {
namespace {

using testing::HasSubstr;

Many with(std::initializer_list<Tensor> tensors) {
  return Many(tensors.begin(), tensors.end());
}

TEST(TraceTest, OpsAndViewsBecomeCallsAndLayouts) {
  const Program program = expect_traced(
      [](In in, Many& out) {
        const Tensor y = matmul(in[0], transpose(in[1], 0, 1));
        out.push_back(relu(y) + 1.0);
        out.push_back(slice(y, 0, 1, 3));
      },
      with({randn({4, 3}), randn({5, 3})}));
  EXPECT_EQ(program.arguments.size(), 2U);
  EXPECT_EQ(program.results.size(), 2U);
  // matmul, relu, the number 1, add: a view is no call.
  EXPECT_EQ(program.calls.size(), 4U);
  EXPECT_EQ(program.in(program.calls[0])[1].layout->strides, (Shape{1, 3}));
}

TEST(TraceTest, WhatTheStepCapturesIsAnExternal) {
  const Tensor weight = randn({3});
  const Program program =
      expect_traced([&](In in, Many& out) { out.push_back(in[0] * weight); },
                    with({randn({2, 3})}));
  ASSERT_EQ(program.externals.size(), 1U);
  EXPECT_TRUE(program.externals[0].tensor.is_alias_of(weight));
  EXPECT_FALSE(program.externals[0].is_written);
  EXPECT_FALSE(program.externals[0].is_constant);
}

TEST(TraceTest, ResultsMayBeArgumentsExternalsAndOneValueTwice) {
  const Tensor outside = randn({2});
  expect_traced(
      [&](In in, Many& out) {
        out.push_back(in[0]);
        out.push_back(outside);
        const Tensor y = in[0] + in[0];
        out.push_back(y);
        out.push_back(reshape(y, {2, 1}));
      },
      with({randn({2})}));
}

TEST(TraceTest, OpsOfSeveralOutputs) {
  expect_traced(
      [](In in, Many& out) {
        const auto [values, indices] = sort(in[0], 1);
        out.push_back(values);
        out.push_back(indices);
      },
      with({randn({4, 5})}));
}

TEST(TraceTest, CreatedTensorsAndDrawsAreThoseOfEachRun) {
  const Program program = expect_traced(
      [](In in, Many& out) {
        out.push_back(rand({3, 5}));
        out.push_back(randn({7}, f64));
        out.push_back(randint(-3, 9, {4}, i32));
        out.push_back(randperm(9, i32));
        out.push_back(multinomial(abs(in[0]), 30));
        out.push_back(multinomial(abs(in[0]), 60, true));
        out.push_back(dropout(in[0], 0.5));
        out.push_back(full({2}, 3.7, i64));
        out.push_back(from_values({1, 2}, {2}) + arange(2));
        out.push_back(arange(1, 3, 0.5) + linspace(3, 9, 4));
      },
      with({randn({40})}));
  EXPECT_EQ(program.draws, 7U);
}

TEST(TraceTest, BackwardIsPartOfTheProgram) {
  const Tensor w = requires_grad_(randn({3, 2}));
  const Tensor b = requires_grad_(randn({2}));
  const Many in = with({randn({4, 3})});
  const auto step = [&](In x, Many& out) {
    const Tensor loss = sum(square(linear(x[0], transpose(w, 0, 1), b)));
    backward(loss);
    out.push_back(loss);
  };
  const Program program = trace(step, specs_of(in));
  EXPECT_FALSE(w.grad().defined());
  ASSERT_EQ(program.grads.size(), 2U);
  EXPECT_TRUE(program.grads[0].is_read);
  EXPECT_FALSE(program.grads[0].was_defined);
  EXPECT_TRUE(program.grads[0].is_set);
  const Many traced = interpret(program, in);
  const Many gradients = with({w.grad(), b.grad()});
  zero_grad(with({w, b}));
  expect_same(run_eagerly(step, in), traced);
  expect_same(with({w.grad(), b.grad()}), gradients);
  // A program made where there was no gradient does not hold where there is.
  EXPECT_THROW(interpret(program, in), TraceError);
}

TEST(TraceTest, GradientsThatAreThereAreAddedTo) {
  const Tensor w = requires_grad_(from_values({1, 2, 3}, {3}));
  const Many in = with({from_values({4, 5, 6}, {3})});
  const auto step = [&](In x, Many&) { backward(sum(w * x[0])); };
  set_grad(w, from_values({10, 20, 30}, {3}));
  const Program program = trace(step, specs_of(in));
  EXPECT_EQ(w.grad().to_vector()[0], 10);
  interpret(program, in);
  EXPECT_EQ(w.grad().to_vector()[0], 14);
  interpret(program, in);
  EXPECT_EQ(w.grad().to_vector()[2], 42);
}

TEST(TraceTest, LeavesOfTheStepsOwnLeaveNothing) {
  const Many in = with({randn({3})});
  const auto step = [&](In x, Many& out) {
    const Tensor leaf = requires_grad_(x[0].alias());
    backward(sum(square(leaf)));
    out.push_back(leaf.grad());
  };
  const Program program = expect_traced(step, in);
  EXPECT_TRUE(program.grads.empty());
}

TEST(TraceTest, LooksAtElementsAreRefusedAtTheirLine) {
  const Tensor outside = from_values({1}, {1});
  const auto refused = [](Step step) -> std::string {
    try {
      trace(step, std::vector<tensor::Spec>{{f32, {1}, memory::kHost}});
    } catch (const TraceError& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(refused([](In x, Many&) { x[0].item(); }),
              HasSubstr("item: at trace_test.cpp:"));
  EXPECT_THAT(refused([](In x, Many&) { x[0].values<float>(); }),
              HasSubstr("values: at"));
  EXPECT_THAT(refused([](In x, Many&) { (x[0] + 1.0).to_vector(); }),
              HasSubstr("to_vector: at"));
  EXPECT_THAT(refused([&](In, Many&) { outside.item(); }),
              HasSubstr("reads elements of a tensor that existed before"));
  EXPECT_THAT(refused([&](In, Many&) {
                Tensor own = outside;
                own.mutable_values<float>()[0] = 2;
              }),
              HasSubstr("writes into a tensor that existed before"));
  EXPECT_EQ(outside.item(), 1);
}

TEST(TraceTest, WhatTheHostMakesInsideIsAConstant) {
  const Program program = expect_traced(
      [](In in, Many& out) {
        Tensor table = empty({3});
        const auto values = table.mutable_values<float>();
        values[0] = values[1] = 1;
        values[2] = table.values<float>()[0] + 1;
        out.push_back(in[0] * table);
      },
      with({randn({3})}));
  ASSERT_EQ(program.externals.size(), 1U);
  EXPECT_TRUE(program.externals[0].is_constant);
}

TEST(TraceTest, TheHostMayNotWriteWhatAnEarlierLineReads) {
  EXPECT_THROW(trace(
                   [](In, Many& out) {
                     Tensor table = from_values({1, 2}, {2});
                     out.push_back(table + table);
                     table.mutable_values<float>()[0] = 5;
                   },
                   {}),
               TraceError);
}

TEST(TraceTest, StandInsThatOutliveTheTraceAreRefused) {
  std::vector<Tensor> kept;
  const Many in = with({randn({2})});
  EXPECT_THROW(
      trace([&](In x, Many&) { kept.push_back(x[0] + 1.0); }, specs_of(in)),
      TraceError);
  EXPECT_THROW(kept[0] + 1.0, TraceError);
  try {
    kept[0].item();
    FAIL() << "a stand-in has an element";
  } catch (const TraceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("stands for a value of a step"));
  }
  EXPECT_THROW(trace([&](In, Many& out) { out.push_back(kept[0] + 1.0); }, {}),
               TraceError);
}

TEST(TraceTest, AProgramHoldsForTheLeavesThatRequiredAGradient) {
  const Tensor w = requires_grad_(randn({2}));
  const Tensor frozen = requires_grad_(requires_grad_(randn({2})), false);
  const Many in = with({randn({2})});
  const Program program = trace(
      [&](In x, Many&) { backward(sum(w * x[0] * frozen)); }, specs_of(in));
  ASSERT_EQ(program.leaves.size(), 2U);
  EXPECT_EQ(program.grads.size(), 1U);
  requires_grad_(frozen);
  EXPECT_THROW(interpret(program, in), TraceError);
  requires_grad_(frozen, false);
  interpret(program, in);
  EXPECT_TRUE(w.grad().defined());
}

struct Zeros {
  std::int64_t size() const { return 4; }
  data::SampleSpec spec() const { return {{2}, f32, {}, i64}; }
  void load(std::int64_t, std::span<std::byte>,
            std::span<std::byte>) const noexcept {}
};

TEST(TraceTest, BatchesAreAskedForOutside) {
  const Zeros samples;
  data::Loader loader(samples, {.batch = 2});
  loader.start(0);
  EXPECT_THROW(trace([&](In, Many&) { loader.next(); }, {}), TraceError);
  EXPECT_NE(loader.next(), nullptr);
}

TEST(TraceTest, LayersAreMadeOutside) {
  EXPECT_THROW(trace([](In, Many&) { const nn::Linear layer(2, 3); }, {}),
               TraceError);
}

TEST(TraceTest, AModesFlagIsAGuard) {
  nn::Linear layer(2, 2);
  const auto step = [&](In x, Many& out) {
    out.push_back(dropout(layer(x[0]), 0.5, layer.is_training()));
  };
  const Many in = with({randn({3, 2})});
  const Program program = trace(step, specs_of(in));
  ASSERT_EQ(program.flags.size(), 1U);
  layer.eval();
  EXPECT_THROW(interpret(program, in), TraceError);
  EXPECT_EQ(trace(step, specs_of(in)).draws, 0U);
}

TEST(TraceTest, OtherThreadsAreRefused) {
  const Many in = with({randn({2})});
  std::string message;
  trace(
      [&](In x, Many&) {
        std::thread([&] {
          try {
            relu(x[0]);
          } catch (const TraceError& error) {
            message = error.what();
          }
        }).join();
      },
      specs_of(in));
  EXPECT_THAT(message, HasSubstr("in another thread"));
}

TEST(TraceTest, OtherGeneratorsAreRefused) {
  EXPECT_THROW(trace(
                   [](In, Many& out) {
                     Generator own(3);
                     const UseGenerator guard(own);
                     out.push_back(rand({2}));
                   },
                   {}),
               TraceError);
  EXPECT_THROW(trace([](In, Many&) { seed(4); }, {}), TraceError);
}

TEST(TraceTest, AThrowLeavesEverythingAsBefore) {
  const Tensor w = requires_grad_(from_values({1, 2}, {2}));
  set_grad(w, from_values({5, 6}, {2}));
  Generator generator(1);
  const UseGenerator guard(generator);
  EXPECT_THROW(trace(
                   [&](In, Many&) {
                     backward(sum(w * rand({2})));
                     throw ValueError("mine");
                   },
                   {}),
               ValueError);
  EXPECT_EQ(w.grad().to_vector()[1], 6);
  EXPECT_EQ(generator.state().draw, 0U);
}

TEST(TraceTest, ScopesGiveStandInsBack) {
  expect_traced(
      [](In in, Many& out) {
        const Scope scope("step");
        Scope inner("inner");
        const Tensor hidden = relu(in[0]);
        out.push_back(inner.keep(sum(hidden)));
        inner.close();
        EXPECT_THROW(hidden.shape(), UseAfterRelease);
        memory::detach_from_scope(out.back());
      },
      with({randn({6})}));
}

}  // namespace
}  // namespace neap::compiler
