// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Steps over many parameters: as if each had been updated on its own.
#include "neap/optim/joint_update.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <vector>

#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/parameters_test.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::optim {
namespace {

using ::testing::Each;

constexpr std::int64_t kLong = 40000;  // several threads divide it

// Parts of what kernels do run last to first.
class JointUpdateTest : public DoorTest {
  kernels::testing::BackwardExecutor executor_{3};
  const tensor::ExecutionGuard guard_{
      [this](tensor::Execution& c) { c.executor = &executor_; }};
};

// Another tensor of the same elements, of no graph.
Tensor alias(const Tensor& x) {
  return Tensor(tensor::Array::make(x.array()->storage(), x.array()->layout()));
}

// A square's elements in the order of its columns.
Tensor transpose_of(const Tensor& x) {
  tensor::Layout layout = x.array()->layout();
  layout.strides = {1, x.shape()[0]};
  return Tensor(tensor::Array::make(x.array()->storage(), layout));
}

Tensor square_parameter(std::int64_t side) {
  return requires_grad_(full({side, side}, 0.75));
}

// Elements that all differ, and from one step to the next.
Tensor ramp(const Tensor& like, int step) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < like.element_count(); ++i) {
    values.push_back(0.1 * (step + 1) + 1e-3 * static_cast<double>(i));
  }
  return from_values(values, like.shape(), like.dtype());
}

// Three steps; the gradient of the second parameter is not dense.
void train(const std::vector<Tensor>& parameters,
           const std::function<void()>& step) {
  for (int i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const Tensor grad = ramp(parameters[k], i);
      set_grad(parameters[k], k == 1 ? transpose_of(grad) : grad);
    }
    step();
  }
}

TEST_F(JointUpdateTest, HasTheBitsOfAnOptimizerForEachParameter) {
  const auto make = [] {
    return std::vector{parameter({0.5, -1}), square_parameter(40),
                       parameter({3}, f64), square_parameter(200)};
  };
  const std::vector<Tensor> joint = make();
  AdamW adam(named(
      {{"a", joint[0]}, {"b", joint[1]}, {"c", joint[2]}, {"d", joint[3]}}));
  train(joint, [&] { adam.step(); });
  const std::vector<Tensor> alone = make();
  std::vector<std::unique_ptr<AdamW>> each;
  for (const Tensor& w : alone) {
    each.push_back(std::make_unique<AdamW>(named({{"w", w}})));
  }
  train(alone, [&] {
    for (const auto& optimizer : each) {
      optimizer->step();
    }
  });
  for (std::size_t k = 0; k < joint.size(); ++k) {
    EXPECT_EQ(joint[k].to_vector(), alone[k].to_vector()) << k;
  }
}

TEST_F(JointUpdateTest, TakesParametersThatOverlapInTurn) {
  const Tensor flat = full({kLong}, 1.0);
  const Tensor a = requires_grad_(alias(flat));
  const Tensor b = requires_grad_(alias(flat));
  SGD sgd(named({{"a", a}, {"b", b}}), {.lr = 1.0, .weight_decay = 0.5});
  set_grad(a, ones({kLong}));
  set_grad(b, zeros({kLong}));
  sgd.step();
  EXPECT_THAT(flat.to_vector(), Each(-0.25));
}

TEST_F(JointUpdateTest, ReadsAGradientThatIsAnotherParameterInTurn) {
  const Tensor a = requires_grad_(full({kLong}, 8.0));
  const Tensor b = requires_grad_(full({kLong}, 1.0));
  SGD sgd(named({{"a", a}, {"b", b}}), {.lr = 0.5});
  set_grad(a, ones({kLong}));
  graph::leaf_of(b)->set_grad(alias(a));  // set_grad() would copy it
  sgd.step();
  EXPECT_THAT(b.to_vector(), Each(1 - 0.5 * 7.5));
}

}  // namespace
}  // namespace neap::optim
