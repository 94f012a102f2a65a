// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LBFGS: beside PyTorch, on problems whose answer is known, and what becomes of
// its state.
#include "neap/optim/lbfgs.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/parameters_test.hpp"
#include "neap/optim/recorded_test.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "neap/threads/pool.hpp"

namespace neap::optim {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Figures = std::vector<std::vector<double>>;
#include "neap/optim/lbfgs_figures.inc"

template <class F>
Tensor wave(const Shape& shape, DType dtype, const F& element) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(element(static_cast<double>(i)));
  }
  return from_values(values, shape, dtype);
}

Tensor start(std::int64_t count, DType dtype) {
  return requires_grad_(
      wave({count}, dtype, [](double i) { return std::cos(1.7 * i + 0.3); }));
}

// Parameters and the loss that they are to make small.
struct Problem {
  ParameterList parameters;
  std::function<Tensor()> loss;

  double value() const { return loss().item(); }
  std::vector<double> place() const {
    std::vector<double> out;
    for (const Parameter& one : parameters) {
      for (const double x : one.tensor.to_vector()) {
        out.push_back(x);
      }
    }
    return out;
  }
};

Problem rosenbrock(std::int64_t count, DType dtype = f64) {
  const Tensor x = start(count, dtype);
  return {named({{"x", x}}), [x, count] {
            const Tensor a = narrow(x, 0, 0, count - 1);
            const Tensor b = narrow(x, 0, 1, count - 1);
            return sum(add(mul(square(sub(b, square(a))), 100.0),
                           square(sub(1.0, a))));
          }};
}

Problem logistic(DType dtype = f64) {
  const Tensor w = start(3, dtype);
  const Tensor b = requires_grad_(zeros({1}, dtype));
  const Tensor x = wave({12, 3}, dtype, [](double i) {
    return std::sin(1.3 * std::floor(i / 3) + 0.7 * std::fmod(i, 3));
  });
  const Tensor y = wave(
      {12}, dtype, [](double i) { return std::cos(0.9 * i) > 0 ? 1.0 : -1.0; });
  return {named({{"w", w}, {"b", b}}), [w, b, x, y] {
            const Tensor z = add(sum(mul(x, w), {1}), b);
            return add(mean(log(add(exp(neg(mul(y, z))), 1.0))),
                       mul(sum(square(w)), 0.005));
          }};
}

Problem bowl(DType dtype = f64) {
  const Tensor x = start(6, dtype);
  const Tensor weights =
      wave({6}, dtype, [](double i) { return 0.5 * (1 + i); });
  const Tensor middle = wave({6}, dtype, [](double i) { return std::sin(i); });
  return {named({{"x", x}}), [x, weights, middle] {
            return sum(mul(weights, square(sub(x, middle))));
          }};
}

double step(LBFGS& lbfgs, const Problem& problem) {
  return lbfgs.step([&] {
    lbfgs.zero_grad();
    Tensor loss = problem.loss();
    backward(loss);
    return loss;
  });
}

struct Case {
  const char* name;
  const Figures& figures;
  std::function<Problem()> make;
  LBFGSOptions options;
};

std::vector<Case> cases() {
  return {{"rosenbrock",
           kRosenbrock,
           [] { return rosenbrock(2); },
           {.max_iter = 4, .history_size = 10}},
          {"rosenbrock with a short history",
           kRosenbrockShort,
           [] { return rosenbrock(5); },
           {.lr = 0.5, .max_iter = 3, .history_size = 2}},
          {"rosenbrock in few evaluations",
           kRosenbrockFew,
           [] { return rosenbrock(3); },
           {.max_iter = 6, .max_eval = 4, .history_size = 3}},
          {"logistic",
           kLogistic,
           [] { return logistic(); },
           {.max_iter = 3, .history_size = 5}},
          {"logistic with a fixed step",
           kLogisticFixed,
           [] { return logistic(); },
           {.max_iter = 4, .history_size = 5, .line_search = false}},
          {"bowl with a fixed step",
           kBowlFixed,
           [] { return bowl(); },
           {.lr = 0.5, .max_iter = 2, .history_size = 4, .line_search = false}},
          {"bowl to its end",
           kBowlLong,
           [] { return bowl(); },
           {.max_iter = 50, .history_size = 4}}};
}

class LbfgsTest : public DoorTest {};

TEST_F(LbfgsTest, HasTheStepsOfPyTorch) {
  for (const Case& c : cases()) {
    const Problem problem = c.make();
    LBFGS lbfgs(problem.parameters, c.options);
    for (std::size_t row = 0; row < c.figures.size(); ++row) {
      const std::vector<double>& wanted = c.figures[row];
      EXPECT_NEAR(step(lbfgs, problem), wanted[0],
                  1e-8 * (1 + std::fabs(wanted[0])))
          << c.name << ", step " << row;
      const std::vector<double> place = problem.place();
      ASSERT_EQ(place.size() + 1, wanted.size());
      for (std::size_t i = 0; i < place.size(); ++i) {
        EXPECT_NEAR(place[i], wanted[i + 1], 1e-8)
            << c.name << ", step " << row << ", element " << i;
      }
    }
  }
}

TEST_F(LbfgsTest, FindsTheMinimumOfRosenbrock) {
  for (const DType dtype : {f32, f64}) {
    const Problem problem = rosenbrock(2, dtype);
    LBFGS lbfgs(problem.parameters);
    for (int i = 0; i < 5; ++i) {
      step(lbfgs, problem);
    }
    for (const double x : problem.place()) {
      EXPECT_NEAR(x, 1.0, dtype == f32 ? 1e-2 : 1e-4);
    }
  }
}

TEST_F(LbfgsTest, TheGradientOfALogisticRegressionBecomesZero) {
  const Problem problem = logistic();
  LBFGS lbfgs(problem.parameters);
  for (int i = 0; i < 3; ++i) {
    step(lbfgs, problem);
  }
  lbfgs.zero_grad();
  backward(problem.loss());
  for (const Parameter& one : problem.parameters) {
    for (const double g : one.tensor.grad().to_vector()) {
      EXPECT_NEAR(g, 0.0, 1e-5);
    }
  }
}

TEST_F(LbfgsTest, TheStateIsCountedAndThereIsNoMore) {
  const Problem problem = logistic(f32);
  LBFGS lbfgs(problem.parameters, {.history_size = 7});
  EXPECT_EQ(lbfgs.state_bytes(), 0);
  step(lbfgs, problem);
  EXPECT_EQ(lbfgs.state_bytes(), 2 * (7 + 1) * 4 * 4);
  const Bytes live = domain_->stats().live;
  lbfgs.zero_grad();
  const Bytes without = domain_->stats().live;
  step(lbfgs, problem);
  EXPECT_EQ(domain_->stats().live, live);
  lbfgs.zero_grad();
  EXPECT_EQ(domain_->stats().live, without);
}

TEST_F(LbfgsTest, ContinuesFromAStateInTheSameBits) {
  for (const DType dtype : {f32, f64}) {
    const LBFGSOptions options{.max_iter = 3, .history_size = 2};
    const Problem whole = rosenbrock(5, dtype);
    LBFGS first(whole.parameters, options);
    for (int i = 0; i < 3; ++i) {
      step(first, whole);
    }
    const Problem rest = rosenbrock(5, dtype);
    copy_(rest.parameters[0].tensor.detach(),
          whole.parameters[0].tensor.detach());
    LBFGS second(rest.parameters, options);
    second.set_state(first.state());
    EXPECT_EQ(second.step_count(), 3);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(step(first, whole), step(second, rest));
      EXPECT_EQ(whole.place(), rest.place());
    }
  }
}

TEST_F(LbfgsTest, TheNumberOfThreadsChangesNoBit) {
  std::vector<std::vector<double>> found;
  for (const int count : {1, 3}) {
    threads::Pool pool(count);
    const tensor::ExecutionGuard use(
        [&](tensor::Execution& e) { e.executor = &pool; });
    const Problem problem = rosenbrock(3001, f32);
    LBFGS lbfgs(problem.parameters, {.max_iter = 4});
    step(lbfgs, problem);
    found.push_back(problem.place());
  }
  EXPECT_EQ(found[0], found[1]);
}

TEST_F(LbfgsTest, AScheduleGivesTheFirstStepLength) {
  const auto place_after = [](double lr, const Schedule& schedule) {
    const Problem problem = bowl();
    LBFGS lbfgs(problem.parameters,
                {.lr = lr, .max_iter = 1, .line_search = false});
    lbfgs.set_schedule(schedule);
    step(lbfgs, problem);
    EXPECT_EQ(lbfgs.lr(), 0.25);
    return problem.place();
  };
  EXPECT_EQ(place_after(0.25, {}), place_after(1.0, constant(0.25)));
}

TEST_F(LbfgsTest, AClosureThatThrowsLeavesTheLatestWholeIteration) {
  const LBFGSOptions options{.max_iter = 12, .history_size = 3};
  for (int failing = 1; failing < 9; ++failing) {
    const Problem problem = rosenbrock(4);
    LBFGS lbfgs(problem.parameters, options);
    int calls = 0;
    const auto closure = [&] {
      if (++calls == failing) {
        throw ValueError("of the closure");
      }
      lbfgs.zero_grad();
      Tensor loss = problem.loss();
      backward(loss);
      return loss;
    };
    double before = problem.value();
    bool has_thrown = false;
    for (int i = 0; i < 12; ++i) {
      try {
        lbfgs.step(closure);
      } catch (const ValueError&) {
        has_thrown = true;
        EXPECT_LE(problem.value(), before);
      }
      before = problem.value();
    }
    EXPECT_TRUE(has_thrown);
    EXPECT_NEAR(problem.value(), 0.0, 1e-3) << failing;
  }
}

TEST_F(LbfgsTest, AThrowInTheFirstIterationLeavesEverythingAsItWas) {
  const Problem problem = rosenbrock(4);
  LBFGS lbfgs(problem.parameters);
  const auto place = problem.place();
  int calls = 0;
  const auto closure = [&] {
    Tensor loss = problem.loss();
    backward(loss);
    return ++calls == 2 ? throw ValueError("of the closure") : loss;
  };
  EXPECT_THROW(lbfgs.step(closure), ValueError);
  EXPECT_EQ(problem.place(), place);
  EXPECT_EQ(lbfgs.step_count(), 0);
  const Problem other = rosenbrock(4);
  LBFGS fresh(other.parameters);
  step(lbfgs, problem);
  step(fresh, other);
  EXPECT_EQ(problem.place(), other.place());
}

TEST_F(LbfgsTest, EveryAllocationOfAnIterationMayFail) {
  const Problem problem = logistic();
  const auto place = problem.place();
  LBFGS lbfgs(problem.parameters, {.max_iter = 1});
  const auto swept = testing::sweep_allocation_failures(
      *domain_,
      [&] {
        try {
          step(lbfgs, problem);
        } catch (...) {
          lbfgs.zero_grad();  // the closure's
          throw;
        }
      },
      [&](std::int64_t n) { EXPECT_EQ(problem.place(), place) << n; });
  EXPECT_TRUE(swept.ok()) << swept.problems.front();
  EXPECT_GT(swept.failures, 20);
  const Problem other = logistic();
  LBFGS fresh(other.parameters, {.max_iter = 1});
  step(fresh, other);
  EXPECT_EQ(problem.place(), other.place());
}

TEST_F(LbfgsTest, ALossThatIsNoNumberIsTooHigh) {
  const Tensor x = parameter({0.5}, f64);
  const Problem problem{named({{"x", x}}), [x] {
                          // No number below 0, where the first step leads.
                          return sub(x, log(x));
                        }};
  LBFGS lbfgs(problem.parameters, {.lr = 100.0, .max_eval = 60});
  for (int i = 0; i < 3; ++i) {
    lbfgs.step([&] {
      lbfgs.zero_grad();
      Tensor loss = sum(problem.loss());
      backward(loss);
      return loss;
    });
  }
  EXPECT_NEAR(x.to_vector()[0], 1.0, 1e-4);
}

TEST_F(LbfgsTest, AParameterWithoutAGradientStays) {
  const Problem problem = rosenbrock(2);
  ParameterList more = problem.parameters;
  const Tensor idle = parameter({1, 2, 3}, f64);
  more.push_back({memory::String("idle"), idle, {}});
  LBFGS lbfgs(more);
  step(lbfgs, problem);
  EXPECT_EQ(idle.to_vector()[2], 3.0);
}

TEST_F(LbfgsTest, AStepWithoutAClosureIsRefused) {
  const Problem problem = rosenbrock(2);
  LBFGS lbfgs(problem.parameters);
  Optimizer& base = lbfgs;
  EXPECT_THAT([&] { base.step(); },
              ThrowsMessage<ValueError>(HasSubstr("step(closure)")));
}

TEST_F(LbfgsTest, ATracedStepIsRefused) {
  const Problem problem = rosenbrock(2);
  LBFGS lbfgs(problem.parameters);
  RecordedWrites trace;
  const graph::UseTrace use(&trace);
  EXPECT_THAT([&] { step(lbfgs, problem); },
              ThrowsMessage<TraceError>(HasSubstr("LBFGS.step")));
}

TEST_F(LbfgsTest, BadOptionsAreRefused) {
  const Problem problem = rosenbrock(2);
  for (const LBFGSOptions& bad :
       {LBFGSOptions{.lr = -1.0}, LBFGSOptions{.max_iter = 0},
        LBFGSOptions{.max_eval = -1}, LBFGSOptions{.tolerance_grad = NAN},
        LBFGSOptions{.tolerance_change = -1.0},
        LBFGSOptions{.history_size = 0}}) {
    EXPECT_THROW(LBFGS(problem.parameters, bad), ValueError);
  }
  EXPECT_THROW(LBFGS(ParameterList{}), ValueError);
}

TEST_F(LbfgsTest, SaysItsOptions) {
  const Problem problem = rosenbrock(2);
  EXPECT_EQ(LBFGS(problem.parameters, {.max_iter = 7}).describe(0),
            "LBFGS(max_iter=7, max_eval=0, tolerance_grad=1e-07, "
            "tolerance_change=1e-09, history_size=10, line_search=true)");
}

}  // namespace
}  // namespace neap::optim
