// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/optimizer.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/lion.hpp"
#include "neap/optim/parameters_test.hpp"
#include "neap/optim/rmsprop.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::optim {
namespace {

using memory::Category;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr int kSteps = 12;
constexpr int kWidth = 4;
using Figures = std::array<std::array<double, kWidth>, kSteps>;
#include "neap/optim/optimizer_figures.inc"

class OptimizerTest : public DoorTest {};

// A case of the figures: an optimizer for one parameter, and what PyTorch
// makes of it.
struct Case {
  const char* name;
  const Figures& figures;
  std::function<std::unique_ptr<Optimizer>(const ParameterList&)> make;
};

template <class O, class Options>
auto maker(const Options& options) {
  return [options](const ParameterList& parameters) {
    return std::unique_ptr<Optimizer>(std::make_unique<O>(parameters, options));
  };
}

std::vector<Case> cases() {
  const SGDOptions sgd{.lr = 0.1};
  SGDOptions decay = sgd;
  decay.weight_decay = 0.05;
  SGDOptions momentum = sgd;
  momentum.momentum = 0.9;
  SGDOptions nesterov = momentum;
  nesterov.weight_decay = 0.05;
  SGDOptions maximize = nesterov;
  maximize.lr = 0.01;
  maximize.maximize = true;
  nesterov.nesterov = true;
  const SGDOptions dampening{
      .lr = 0.1, .momentum = 0.8, .dampening = 0.3, .weight_decay = 0.05};
  const AdamOptions adam{.lr = 0.05};
  AdamOptions climbing = adam;
  climbing.weight_decay = 0.1;
  climbing.maximize = true;
  const AdamOptions own{.lr = 0.05,
                        .beta1 = 0.8,
                        .beta2 = 0.95,
                        .eps = 1e-6,
                        .weight_decay = 0.1};
  AdamOptions adamw = adam;
  adamw.weight_decay = 0.01;
  const AdamOptions adamw_own{
      .lr = 0.05, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.2};
  const LionOptions lion{.lr = 0.05, .weight_decay = 0.1};
  const LionOptions lion_own{.lr = 0.02, .beta1 = 0.95, .beta2 = 0.98};
  const RMSpropOptions rmsprop{.lr = 0.05};
  const RMSpropOptions rmsprop_own{.lr = 0.02,
                                   .alpha = 0.9,
                                   .eps = 1e-6,
                                   .weight_decay = 0.05,
                                   .momentum = 0.9};
  RMSpropOptions rmsprop_up = rmsprop_own;
  rmsprop_up.maximize = true;
  return {{"sgd", kSgd, maker<SGD>(sgd)},
          {"sgd decay", kSgdDecay, maker<SGD>(decay)},
          {"sgd momentum", kSgdMomentum, maker<SGD>(momentum)},
          {"sgd dampening", kSgdDampening, maker<SGD>(dampening)},
          {"sgd nesterov", kSgdNesterov, maker<SGD>(nesterov)},
          {"sgd maximize", kSgdMaximize, maker<SGD>(maximize)},
          {"adam", kAdam, maker<Adam>(adam)},
          {"adam decay", kAdamDecay, maker<Adam>(own)},
          {"adam maximize", kAdamMaximize, maker<Adam>(climbing)},
          {"adamw", kAdamW, maker<AdamW>(adamw)},
          {"adamw decay", kAdamWDecay, maker<AdamW>(adamw_own)},
          {"lion", kLion, maker<Lion>(lion)},
          {"lion own", kLionOwn, maker<Lion>(lion_own)},
          {"rmsprop", kRMSprop, maker<RMSprop>(rmsprop)},
          {"rmsprop momentum", kRMSpropMomentum, maker<RMSprop>(rmsprop_own)},
          {"rmsprop maximize", kRMSpropMaximize, maker<RMSprop>(rmsprop_up)}};
}

// The gradient that the figures were recorded with: 0.5 w + sin(0.7 t + i).
void give_gradient(const Tensor& w, int step) {
  std::array<double, kWidth> grad{};
  for (int i = 0; i < kWidth; ++i) {
    grad[static_cast<std::size_t>(i)] =
        0.5 * w.at({i}) + std::sin(0.7 * step + i);
  }
  set_grad(w, from_values(grad, {kWidth}, w.dtype()));
}

void expect_figures(const Case& c, DType dtype, double tolerance) {
  const Tensor w = parameter({0.5, -1.25, 2.0, 0.1}, dtype);
  const auto optimizer = c.make(named({{"w", w}}));
  for (int step = 0; step < kSteps; ++step) {
    give_gradient(w, step);
    optimizer->step();
    for (int i = 0; i < kWidth; ++i) {
      const double wanted = c.figures[static_cast<std::size_t>(step)]
                                     [static_cast<std::size_t>(i)];
      EXPECT_NEAR(w.at({i}), wanted, tolerance)
          << c.name << ", step " << step << ", element " << i;
    }
  }
}

TEST_F(OptimizerTest, FollowsPyTorchInDoubles) {
  for (const Case& c : cases()) {
    expect_figures(c, f64, 1e-13);
  }
}

TEST_F(OptimizerTest, FollowsPyTorchInFloats) {
  for (const Case& c : cases()) {
    expect_figures(c, f32, 2e-5);
  }
}

TEST_F(OptimizerTest, LeavesParametersWithoutGradientAndMakesNoState) {
  const Tensor a = parameter({1, 2});
  const Tensor b = parameter({3, 4});
  Adam adam(named({{"a", a}, {"b", b}}));
  set_grad(a, ones({2}));
  adam.step();
  EXPECT_THAT(b.to_vector(), ElementsAre(3, 4));
  EXPECT_NE(a.at({0}), 1.0);
  EXPECT_EQ(adam.state_bytes(), 16);
  EXPECT_EQ(adam.step_count(), 1);
}

TEST_F(OptimizerTest, LeavesFrozenParameters) {
  const Tensor a = parameter({1, 2});
  set_grad(a, ones({2}));
  requires_grad_(a, false);
  SGD sgd(named({{"a", a}}));
  sgd.step();
  EXPECT_THAT(a.to_vector(), ElementsAre(1, 2));
}

TEST_F(OptimizerTest, CountsUpdatesOfEachParameterForItsBiasCorrection) {
  const Tensor a = parameter({1});
  const Tensor b = parameter({1});
  Adam adam(named({{"a", a}, {"b", b}}), {.lr = 0.5, .eps = 0.0});
  set_grad(a, ones({1}));
  adam.step();
  set_grad(b, full({1}, 3.0));
  adam.step();
  // At its first update Adam moves by lr, whatever the gradient's size.
  EXPECT_NEAR(b.at({0}), 0.5, 1e-6);
  std::vector<std::int64_t> steps;
  adam.visit_steps(
      [&](std::string_view, std::int64_t count) { steps.push_back(count); });
  EXPECT_THAT(steps, ElementsAre(2, 1));
}

TEST_F(OptimizerTest, LeavesGradientsAsTheyAre) {
  const Tensor a = parameter({1, 2});
  set_grad(a, from_values({3, 4}, {2}));
  const Tensor grad = a.grad();
  const std::uint32_t version = grad.array()->storage()->version();
  Adam adam(named({{"a", a}}), {.weight_decay = 0.5});
  adam.step();
  EXPECT_THAT(grad.to_vector(), ElementsAre(3, 4));
  EXPECT_EQ(grad.array()->storage()->version(), version);
  adam.zero_grad();
  EXPECT_FALSE(a.grad().defined());
}

TEST_F(OptimizerTest, FreesGradientsWhenTold) {
  const Tensor a = parameter({1, 2, 3, 4});
  const Tensor b = parameter({1, 2});
  const Tensor idle = parameter({1});
  set_grad(a, ones({4}));
  set_grad(b, ones({2}));
  set_grad(idle, ones({1}));
  requires_grad_(idle, false);
  SGD sgd(named({{"a", a}, {"b", b}, {"idle", idle}}), {.lr = 1.0});
  const Bytes before = domain_->stats().live;
  sgd.step({.grad_scale = 0.5, .release_gradients = true});
  EXPECT_THAT(a.to_vector(), ElementsAre(0.5, 1.5, 2.5, 3.5));
  EXPECT_FALSE(a.grad().defined());
  EXPECT_FALSE(b.grad().defined());
  EXPECT_TRUE(idle.grad().defined());
  EXPECT_LE(domain_->stats().live, before - 24);
}

TEST_F(OptimizerTest, FreesNoGradientWhenAStepFails) {
  const Tensor a = parameter({1, 2, 3, 4});
  set_grad(a, ones({4}));
  Adam adam(named({{"a", a}}));
  domain_->fail_at(1);
  EXPECT_THROW(adam.step({.release_gradients = true}), OutOfMemory);
  domain_->fail_at(0);
  EXPECT_THAT(a.grad().to_vector(), Each(1.0));
}

TEST_F(OptimizerTest, CountsAsAWriteOfTheParameterAtTheCallersLine) {
  const Tensor a = parameter({1, 2});
  set_grad(a, ones({2}));
  SGD sgd(named({{"a", a}}));
  const std::uint32_t version = a.array()->storage()->version();
  const int line = __LINE__ + 1;
  sgd.step();
  EXPECT_EQ(a.array()->storage()->version(), version + 1);
  EXPECT_EQ(base::site_of(a.array()->storage()->written_at()).line, line);
}

TEST_F(OptimizerTest, CountsStateUnderTheParametersPath) {
  const Tensor a = parameter({1, 2});
  const memory::OwnerId owner = domain_->owner("fc1.weight");
  static_cast<graph::Leaf&>(*a.link()).set_owner(owner);
  set_grad(a, ones({2}));
  SGD sgd(named({{"a", a}}), {.momentum = 0.9});
  EXPECT_EQ(live(Category::kOptimizerState, "fc1.weight"), 0);
  sgd.step();
  EXPECT_EQ(live(Category::kOptimizerState, "fc1.weight"), 8);
}

TEST_F(OptimizerTest, MakesNoStateThatItsOptionsDoNotNeed) {
  const Tensor a = parameter({1, 2});
  set_grad(a, ones({2}));
  SGD sgd(named({{"a", a}}));
  sgd.step();
  EXPECT_EQ(sgd.state_bytes(), 0);
}

TEST_F(OptimizerTest, VisitsStateByName) {
  const Tensor a = parameter({1, 2});
  set_grad(a, full({2}, 2.0));
  Adam adam(named({{"fc.w", a}}), {.beta1 = 0.5, .beta2 = 0.75});
  adam.step();
  std::vector<std::string> names;
  std::vector<double> firsts;
  adam.visit_state([&](std::string_view name, const Tensor& state) {
    names.emplace_back(name);
    firsts.push_back(state.at({0}));
  });
  EXPECT_THAT(names, ElementsAre("fc.w.exp_avg", "fc.w.exp_avg_sq"));
  EXPECT_THAT(firsts, ElementsAre(1.0, 1.0));
}

TEST_F(OptimizerTest, ReadsGradientsScaledWhenAsked) {
  const Tensor a = parameter({1});
  set_grad(a, full({1}, 4.0));
  SGD sgd(named({{"a", a}}), {.lr = 1.0});
  sgd.step({.grad_scale = 0.5});
  EXPECT_EQ(a.at({0}), -1.0);
}

TEST_F(OptimizerTest, KeepsOptionsForEachGroup) {
  const Tensor a = parameter({1});
  const Tensor b = parameter({1});
  SGD sgd(named({{"a", a}}), {.lr = 0.5});
  sgd.add_group(named({{"b", b}}), {.lr = 0.25});
  set_grad(a, ones({1}));
  set_grad(b, ones({1}));
  sgd.step();
  EXPECT_EQ(a.at({0}), 0.5);
  EXPECT_EQ(b.at({0}), 0.75);
  sgd.set_lr(1, 0.125);
  EXPECT_EQ(sgd.lr(0), 0.5);
  EXPECT_EQ(sgd.lr(1), 0.125);
  sgd.set_lr(1.0);
  EXPECT_EQ(sgd.lr(0), 1.0);
  EXPECT_EQ(sgd.parameters().size(), 2U);
}

TEST_F(OptimizerTest, RefusesListsItCannotTrain) {
  const Tensor a = parameter({1});
  EXPECT_THROW(SGD({}), ValueError);
  EXPECT_THROW(SGD(named({{"a", a}, {"again", a}})), ValueError);
  EXPECT_THROW(SGD(named({{"plain", ones({1})}})), GraphError);
  EXPECT_THROW(SGD(named({{"half", requires_grad_(ones({1}, bf16))}})),
               DTypeError);
  SGD sgd(named({{"a", a}}));
  EXPECT_THROW(sgd.add_group(named({{"a", a}}), {}), ValueError);
  EXPECT_EQ(sgd.group_count(), 1);
}

TEST_F(OptimizerTest, RefusesOptionsOutsideTheirRange) {
  const ParameterList list = named({{"a", parameter({1})}});
  EXPECT_THROW(SGD(list, {.lr = -1.0}), ValueError);
  EXPECT_THROW(SGD(list, {.nesterov = true}), ValueError);
  EXPECT_THROW(SGD(list, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}),
               ValueError);
  EXPECT_THROW(Adam(list, {.beta1 = 1.0}), ValueError);
  EXPECT_THROW(Adam(list, {.eps = std::nan("")}), ValueError);
  SGD sgd(list);
  EXPECT_THROW(sgd.set_lr(INFINITY), ValueError);
  EXPECT_THROW(sgd.set_lr(1, 0.1), ValueError);
  EXPECT_THROW(sgd.set_options(0, {.lr = -1.0}), ValueError);
  EXPECT_EQ(sgd.lr(), 0.01);
}

// All that a step may change: the numbers, the state, and the counts.
struct Snapshot {
  std::vector<double> a, b;
  Bytes state = 0;
  std::int64_t steps = 0;
  Bytes live = 0;
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

TEST_F(OptimizerTest, IsAsBeforeWhereverAStepFails) {
  const Tensor a = parameter({1, 2, 3});
  const Tensor b = parameter({4, 5});
  Adam adam(named({{"a", a}, {"b", b}}), {.weight_decay = 0.1});
  set_grad(a, ones({3}));
  set_grad(b, ones({2}));
  const auto snapshot = [&] {
    const auto x = a.to_vector();
    const auto y = b.to_vector();
    return Snapshot{{x.begin(), x.end()},
                    {y.begin(), y.end()},
                    adam.state_bytes(),
                    adam.step_count(),
                    domain_->stats().live};
  };
  const Snapshot before = snapshot();
  int failures = 0;
  for (int n = 1;; ++n) {
    domain_->fail_at(n);
    try {
      adam.step();
      break;
    } catch (const OutOfMemory&) {
      domain_->fail_at(0);
      ++failures;
      EXPECT_EQ(snapshot(), before) << "request " << n;
    }
  }
  domain_->fail_at(0);
  EXPECT_GE(failures, 8);  // four states: bytes and headers
  const Tensor c = parameter({1, 2, 3});
  Adam undisturbed(named({{"c", c}}), {.weight_decay = 0.1});
  set_grad(c, ones({3}));
  undisturbed.step();
  EXPECT_EQ(a.to_vector(), c.to_vector());
}

TEST_F(OptimizerTest, IsAsBeforeWhenALaterGradientDoesNotFit) {
  const Tensor a = parameter({1, 2});
  const Tensor b = parameter({4, 5});
  Adam adam(named({{"a", a}, {"b", b}}));
  set_grad(a, ones({2}));
  // set_grad checks, so the gradient is spoilt behind its back.
  static_cast<graph::Leaf&>(*b.link()).set_grad(ones({3}));
  EXPECT_THROW(adam.step(), ShapeError);
  EXPECT_THAT(a.to_vector(), ElementsAre(1, 2));
  EXPECT_EQ(adam.state_bytes(), 0);
}

TEST_F(OptimizerTest, AllocatesNothingOnceSettled) {
  const Tensor a = parameter({1, 2});
  Adam adam(named({{"a", a}}));
  set_grad(a, ones({2}));
  adam.step();
  const std::int64_t before = domain_->stats().allocations;
  for (int i = 0; i < 10; ++i) {
    adam.step();
  }
  EXPECT_EQ(domain_->stats().allocations, before);
}

TEST_F(OptimizerTest, UpdatesViewsIntoOneFlatBlock) {
  const Tensor flat = full({5}, 1.0);
  const auto view = [&](std::int64_t start, std::int64_t stop) {
    return requires_grad_(Tensor(tensor::Array::make(
        flat.array()->storage(),
        tensor::sliced(flat.array()->layout(), 0, start, stop, 1))));
  };
  const Tensor a = view(0, 2);
  const Tensor b = view(2, 4);
  SGD sgd(named({{"a", a}, {"b", b}}), {.lr = 1.0});
  set_grad(a, full({2}, 1.0));
  set_grad(b, full({2}, 2.0));
  sgd.step();
  EXPECT_THAT(flat.to_vector(), ElementsAre(0, 0, -1, -1, 1));
}

TEST_F(OptimizerTest, StopsWithMomentumWhenTheOptionGoes) {
  const Tensor a = parameter({0});
  SGD sgd(named({{"a", a}}), {.lr = 1.0, .momentum = 0.5});
  set_grad(a, ones({1}));
  sgd.step();
  sgd.set_options(0, {.lr = 1.0});
  sgd.step();
  EXPECT_THAT(a.to_vector(), Each(-2.0));
}

TEST_F(OptimizerTest, ParametersAndStateAreOfNoScope) {
  std::unique_ptr<Adam> adam;
  Tensor a;
  {
    Scope scope;
    a = parameter({0});
    adam = std::make_unique<Adam>(named({{"a", a}}), AdamOptions{.lr = 1.0});
    set_grad(a, ones({1}));
    adam->step();
    EXPECT_EQ(scope.size(), 0);
  }
  EXPECT_EQ(a.grad().item(), 1.0);
  adam->step();
  adam->visit_state([](std::string_view, const Tensor& state) {
    EXPECT_TRUE(state.defined());
  });
}

}  // namespace
}  // namespace neap::optim
