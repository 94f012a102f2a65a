// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/optimizer_state.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <memory>

#include "neap/optim/adam.hpp"
#include "neap/optim/parameters_test.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::optim {
namespace {

using ::testing::HasSubstr;

class OptimizerStateTest : public DoorTest {};

using Make = std::function<std::unique_ptr<Optimizer>(const ParameterList&)>;

const Make kAdam = [](const ParameterList& list) {
  return std::make_unique<Adam>(list, AdamOptions{.lr = 0.05});
};
const Make kSgd = [](const ParameterList& list) {
  return std::make_unique<SGD>(
      list, SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5});
};

// Two parameters, of which the second has a gradient in every other step only.
struct Descent {
  explicit Descent(const Make& make)
      : list(named({{"a", parameter({1.0, -2.0})}, {"b", parameter({3.0})}})),
        optimizer(make(list)) {}

  void step() {
    const double g = 0.1 * static_cast<double>(optimizer->step_count() + 1);
    set_grad(list[0].tensor, from_values({g, -2.0 * g}, {2}));
    set_grad(list[1].tensor, optimizer->step_count() % 2 == 1
                                 ? from_values({g}, {1})
                                 : Tensor());
    optimizer->step();
  }
  void take_values(const Descent& other) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto from = other.list[i].tensor.values<float>();
      std::ranges::copy(from, list[i].tensor.mutable_values<float>().begin());
    }
  }
  std::vector<float> values() const {
    std::vector<float> all;
    for (const Parameter& p : list) {
      const auto some = p.tensor.values<float>();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  ParameterList list;
  std::unique_ptr<Optimizer> optimizer;
};

TEST_F(OptimizerStateTest, AnotherOptimizerGoesOnFromAnyStep) {
  for (const Make& make : {kAdam, kSgd}) {
    for (int steps = 0; steps < 4; ++steps) {
      Descent first(make);
      for (int i = 0; i < steps; ++i) {
        first.step();
      }
      Descent second(make);
      second.take_values(first);
      second.optimizer->set_state(first.optimizer->state());
      for (int i = 0; i < 3; ++i) {
        first.step();
        second.step();
        EXPECT_EQ(second.values(), first.values()) << steps << " + " << i;
      }
    }
  }
}

TEST_F(OptimizerStateTest, AnOptimizerRestoresAnEarlierState) {
  Descent run(kAdam);
  run.step();
  run.step();
  OptimizerState before = run.optimizer->zero_state();
  const OptimizerState now = run.optimizer->state();
  const Tensor moments = now.slots[0].tensors[0];
  before.slots[1].tensors = {};
  before.rates[0] = 0.25;
  run.optimizer->set_state(std::move(before));
  EXPECT_EQ(run.optimizer->step_count(), 0);
  EXPECT_EQ(run.optimizer->lr(), 0.25);
  EXPECT_EQ(moments.at({0}), 0.0);  // in its own place
  EXPECT_TRUE(run.optimizer->state().slots[0].is_used());
  EXPECT_FALSE(run.optimizer->state().slots[1].is_used());
}

TEST_F(OptimizerStateTest, TakesOverWhatNobodyElseHolds) {
  Descent run(kAdam);
  OptimizerState state = run.optimizer->zero_state();
  const void* data = state.slots[0].tensors[1].array()->strided().data;
  const Bytes live = domain_->stats().live;
  run.optimizer->set_state(std::move(state));
  EXPECT_LE(domain_->stats().live, live);
  EXPECT_EQ(run.optimizer->state().slots[0].tensors[1].array()->strided().data,
            data);
  EXPECT_EQ(run.optimizer->state_bytes(), 24);
}

TEST_F(OptimizerStateTest, CopiesWhatSomebodyElseHolds) {
  Descent first(kSgd);
  first.step();
  Descent second(kSgd);
  second.optimizer->set_state(first.optimizer->state());
  const Tensor ours = second.optimizer->state().slots[0].tensors[0];
  const double before = ours.at({0});
  first.step();
  EXPECT_EQ(ours.at({0}), before);
}

TEST_F(OptimizerStateTest, TakesParametersWithoutElements) {
  const ParameterList list = named({{"none", parameter({})}});
  Adam first(list);
  set_grad(list[0].tensor, zeros({0}));
  first.step();
  Adam second(list);
  second.set_state(first.state());
  second.set_state(first.state());
  EXPECT_EQ(second.state().slots[0].steps, 1);
}

TEST_F(OptimizerStateTest, RefusesWhatIsNotItsOwnAndStaysAsItIs) {
  Descent run(kAdam);
  run.step();
  const auto refused = [&](auto change) {
    OptimizerState state = run.optimizer->state();
    change(state);
    EXPECT_ANY_THROW(run.optimizer->set_state(std::move(state)));
    EXPECT_EQ(run.optimizer->step_count(), 1);
    EXPECT_EQ(run.optimizer->lr(), 0.05);
  };
  refused([](OptimizerState& s) { s.slots.pop_back(); });
  refused([](OptimizerState& s) { s.rates.push_back(0.1); });
  refused([](OptimizerState& s) { s.rates[0] = -1.0; });
  refused([](OptimizerState& s) { s.step_count = -1; });
  refused([](OptimizerState& s) { s.slots[0].steps = -1; });
  refused([](OptimizerState& s) { s.slots[0].tensor_count = 1; });
  refused([](OptimizerState& s) { s.slots[0].tensors[1] = Tensor(); });
  refused([](OptimizerState& s) { s.slots[0].tensors[1] = zeros({3}); });
  refused([](OptimizerState& s) { s.slots[0].tensors[1] = zeros({2}, f64); });
}

TEST_F(OptimizerStateTest, SaysWhatAGroupIs) {
  const Descent run(kSgd);
  EXPECT_EQ(run.optimizer->describe(0),
            "SGD(momentum=0.9, dampening=0.5, weight_decay=0, nesterov=false, "
            "maximize=false)");
  EXPECT_THROW(run.optimizer->describe(1), ValueError);
  const ParameterList list = named({{"a", parameter({1.0})}});
  EXPECT_THAT(AdamW(list).describe(0), HasSubstr("AdamW(beta1=0.9, "));
  EXPECT_THAT(AdamW(list).describe(0), HasSubstr("weight_decay=0.01"));
}

}  // namespace
}  // namespace neap::optim
