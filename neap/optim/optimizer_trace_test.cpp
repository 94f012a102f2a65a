// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <functional>
#include <memory>

#include "neap/optim/adam.hpp"
#include "neap/optim/parameters_test.hpp"
#include "neap/optim/recorded_test.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::optim {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

using Make = std::function<std::unique_ptr<Optimizer>(const ParameterList&)>;

// Two parameters with gradients, and an optimizer.
struct Case {
  explicit Case(const Make& make)
      : optimizer(make(named({{"a", a}, {"b", b}}))) {
    set_grad(a, from_values({0.5, -0.25}, {2}));
    set_grad(b, from_values({1.5}, {1}));
  }
  void trace(RecordedWrites& program, const StepOptions& options = {}) {
    const graph::UseTrace use(&program);
    optimizer->step(options);
  }
  void expect_same(const Case& other) const {
    EXPECT_THAT(a.to_vector(), ElementsAreArray(other.a.to_vector()));
    EXPECT_THAT(b.to_vector(), ElementsAreArray(other.b.to_vector()));
    EXPECT_EQ(optimizer->step_count(), other.optimizer->step_count());
    EXPECT_EQ(optimizer->lr(), other.optimizer->lr());
  }

  Tensor a = parameter({1, 2});
  Tensor b = parameter({-3});
  std::unique_ptr<Optimizer> optimizer;
};

Make adamw() {
  return [](const ParameterList& list) {
    return std::make_unique<AdamW>(list,
                                   AdamOptions{.lr = 0.1, .weight_decay = 0.1});
  };
}

Make momentum() {
  return [](const ParameterList& list) {
    return std::make_unique<SGD>(
        list, SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5});
  };
}

class OptimizerTraceTest : public DoorTest {};

TEST_F(OptimizerTraceTest, ATracedStepMovesNothingButMakesZeros) {
  Case c(adamw());
  RecordedWrites trace;
  c.trace(trace);
  EXPECT_THAT(c.a.to_vector(), ElementsAre(1, 2));
  EXPECT_EQ(c.optimizer->step_count(), 0);
  EXPECT_EQ(c.optimizer->state_bytes(), 24);
  c.optimizer->visit_state(
      [](std::string_view name, const Tensor&) { ADD_FAILURE() << name; });
  ASSERT_EQ(trace.writes.size(), 2U);
  EXPECT_EQ(trace.writes[0].name, "adam");
  EXPECT_EQ(trace.writes[0].in.size(), 1U);
  EXPECT_EQ(trace.writes[0].out.size(), 3U);
}

TEST_F(OptimizerTraceTest, RunsOfAProgramAreSteps) {
  for (const Make& make : {adamw(), momentum()}) {
    Case eager(make);
    Case traced(make);
    for (Case* c : {&eager, &traced}) {
      c->optimizer->set_schedule(warm_up(0.5, 4));
    }
    RecordedWrites program;
    traced.trace(program, {.grad_scale = 0.5});
    for (int step = 0; step < 10; ++step) {
      eager.optimizer->step({.grad_scale = 0.5});
      program.run();
      traced.expect_same(eager);
    }
  }
}

TEST_F(OptimizerTraceTest, EagerStepsAndRunsMayAlternate) {
  for (const Make& make : {adamw(), momentum()}) {
    Case eager(make);
    Case mixed(make);
    {
      RecordedWrites lost;  // it came to nothing
      mixed.trace(lost);
    }
    RecordedWrites program;
    mixed.trace(program);
    for (int step = 0; step < 6; ++step) {
      eager.optimizer->step();
      if (step % 2 == 0) {
        mixed.optimizer->step();
      } else {
        program.run();
      }
      mixed.expect_same(eager);
    }
  }
}

TEST_F(OptimizerTraceTest, SeveralStepsOfOneTraceAreSeveralSteps) {
  Case eager(momentum());
  Case traced(momentum());
  for (Case* c : {&eager, &traced}) {
    c->optimizer->set_schedule(exponential(0.5, 0.5));
  }
  RecordedWrites program;
  {
    const graph::UseTrace use(&program);
    traced.optimizer->step();
    set_grad(traced.b, Tensor());
    traced.optimizer->step({.grad_scale = 2.0});
  }
  EXPECT_EQ(program.writes.size(), 3U);
  const Tensor grad = eager.b.grad();
  for (int run = 0; run < 3; ++run) {
    set_grad(eager.b, grad);
    eager.optimizer->step();
    set_grad(eager.b, Tensor());
    eager.optimizer->step({.grad_scale = 2.0});
    program.run();
    traced.expect_same(eager);
  }
}

TEST_F(OptimizerTraceTest, ARunThatDoesNotTakePlaceCountsNothing) {
  Case c(adamw());
  c.optimizer->set_schedule(exponential(0.5, 0.5));
  RecordedWrites program;
  c.trace(program);
  graph::RunListener& listener = *c.optimizer;
  listener.before_run();
  listener.write_attrs(program.writes[0].index, program.writes[0].attrs.data());
  EXPECT_EQ(c.optimizer->lr(), 0.1);
  EXPECT_EQ(c.optimizer->step_count(), 0);
  program.run();
  EXPECT_EQ(c.optimizer->step_count(), 1);
  c.optimizer->visit_steps(
      [](std::string_view, std::int64_t steps) { EXPECT_EQ(steps, 1); });
  EXPECT_EQ(c.optimizer->lr(), 0.5);
}

TEST_F(OptimizerTraceTest, ParametersWithoutGradientOrFrozenAreLeft) {
  Case c(adamw());
  set_grad(c.a, Tensor());
  RecordedWrites one;
  c.trace(one);
  EXPECT_EQ(one.writes.size(), 1U);
  requires_grad_(c.b, false);
  RecordedWrites program;
  c.trace(program);
  EXPECT_TRUE(program.writes.empty());
  program.run();
  EXPECT_EQ(c.optimizer->step_count(), 1);
  EXPECT_EQ(c.optimizer->state_bytes(), 8);
}

TEST_F(OptimizerTraceTest, StateThatNoRunHasUsedGoesWithTheLastProgram) {
  Case c(adamw());
  const Bytes before = memory::domain().stats().live;
  {
    RecordedWrites one;
    c.trace(one);
    {
      RecordedWrites other;
      c.trace(other);
    }
    EXPECT_GT(c.optimizer->state_bytes(), 0);
  }
  EXPECT_EQ(c.optimizer->state_bytes(), 0);
  EXPECT_EQ(memory::domain().stats().live, before);
  Bytes used = 0;
  {
    RecordedWrites program;
    c.trace(program);
    program.run();
    used = c.optimizer->state_bytes();
  }
  EXPECT_GT(used, 0);
  EXPECT_EQ(c.optimizer->state_bytes(), used);
}

TEST_F(OptimizerTraceTest, AProgramMayOutliveItsOptimizerWhereItDoesNotRun) {
  RecordedWrites program;
  Case c(adamw());
  c.trace(program);
}

TEST_F(OptimizerTraceTest, GradientsAreReleasedWhereAsked) {
  Case c(adamw());
  RecordedWrites trace;
  c.trace(trace);
  EXPECT_TRUE(c.a.grad().defined());
  c.trace(trace, {.release_gradients = true});
  EXPECT_FALSE(c.a.grad().defined());
}

TEST_F(OptimizerTraceTest, AProgramHoldsForItsGroupsAndTheirState) {
  SGD sgd(named({{"a", parameter({1})}}), {.lr = 0.1});
  RecordedWrites program;
  {
    const graph::UseTrace use(&program);
    sgd.step();
  }
  sgd.set_options(0, {.lr = 0.5});
  EXPECT_TRUE(program.holds());
  sgd.set_options(0, {.lr = 0.5, .momentum = 0.9});
  EXPECT_FALSE(program.holds());
  sgd.set_options(0, {.lr = 0.1});
  EXPECT_TRUE(program.holds());
  sgd.add_group(named({{"b", parameter({1})}}), {.lr = 0.1});
  EXPECT_FALSE(program.holds());
}

TEST_F(OptimizerTraceTest, RefusesWhatARunWouldNotDoAgain) {
  SGD sgd(named({{"a", parameter({1})}}), {.lr = 0.1});
  const ParameterList more = named({{"b", parameter({1})}});
  RecordedWrites trace;
  {
    const graph::UseTrace use(&trace);
    EXPECT_THROW(sgd.set_lr(0.2), TraceError);
    EXPECT_THROW(sgd.set_lr(0, 0.2), TraceError);
    EXPECT_THROW(sgd.set_options(0, {}), TraceError);
    EXPECT_THROW(sgd.set_schedule(constant(0.1)), TraceError);
    EXPECT_THROW(sgd.add_group(more, {}), TraceError);
    EXPECT_THROW(Adam{more}, TraceError);
    EXPECT_THROW(static_cast<void>(sgd.lr()), TraceError);
    EXPECT_THROW(static_cast<void>(sgd.options()), TraceError);
    EXPECT_THROW(static_cast<void>(sgd.step_count()), TraceError);
    EXPECT_THROW(static_cast<void>(sgd.state()), TraceError);
  }
  EXPECT_EQ(sgd.lr(), 0.1);
}

TEST_F(OptimizerTraceTest, RefusesGradientsUnlikeTheirParameters) {
  const Tensor a = parameter({1, 2});
  Adam adam(named({{"a", a}}));
  set_grad(a, ones({2}));
  graph::leaf_of(a)->set_grad(ones({3}));
  RecordedWrites trace;
  const graph::UseTrace use(&trace);
  EXPECT_THROW(adam.step(), ShapeError);
}

class OptimizerScheduleTest : public DoorTest {};

TEST_F(OptimizerScheduleTest, ReturnsTheRateOfEachStep) {
  const Tensor a = parameter({1});
  set_grad(a, ones({1}));
  SGD sgd(named({{"a", a}}), {.lr = 0.1});
  sgd.set_schedule([](std::int64_t step) { return step == 0 ? 0.5 : 0.25; });
  sgd.step();
  EXPECT_THAT(a.to_vector(), ElementsAre(0.5));
  EXPECT_EQ(sgd.lr(), 0.5);
  sgd.step();
  EXPECT_THAT(a.to_vector(), ElementsAre(0.25));
  sgd.set_schedule({});
  sgd.set_lr(1.0);
  sgd.step();
  EXPECT_THAT(a.to_vector(), ElementsAre(-0.75));
}

TEST_F(OptimizerScheduleTest, IsEachGroupsOwn) {
  SGD sgd(named({{"a", parameter({1})}}), {.lr = 0.1});
  sgd.add_group(named({{"b", parameter({1})}}), {.lr = 0.2});
  sgd.set_schedule(1, constant(0.5));
  EXPECT_FALSE(sgd.schedule(0));
  EXPECT_TRUE(sgd.schedule(1));
  sgd.step();
  EXPECT_EQ(sgd.lr(0), 0.1);
  EXPECT_EQ(sgd.lr(1), 0.5);
  EXPECT_THROW(sgd.set_schedule(2, constant(0.5)), ValueError);
}

TEST_F(OptimizerScheduleTest, AStepOfABadRateLeavesEverything) {
  const Tensor a = parameter({1});
  set_grad(a, ones({1}));
  SGD sgd(named({{"a", a}}), {.lr = 0.1});
  sgd.set_schedule(constant(-1.0));
  EXPECT_THROW(sgd.step(), ValueError);
  EXPECT_EQ(sgd.lr(), 0.1);
  EXPECT_EQ(sgd.step_count(), 0);
  EXPECT_THAT(a.to_vector(), ElementsAre(1));
}

}  // namespace
}  // namespace neap::optim
