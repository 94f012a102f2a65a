// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// With max_batch, the second call of a step whose state had got the batch in
// its shape was refused by the words of an op about shapes that the caller had
// not given: those of the largest batch, which is traced first.
#include <gmock/gmock.h>

#include "neap/compile/compile_for_test.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class StepBatchInAStateTest : public ::testing::Test {
 protected:
  Tensor x_ = ones({3, 4});
};

TEST_F(StepBatchInAStateTest, TheRefusalSaysWhatItIs) {
  Tensor h = zeros({4});
  auto step = neap::compile([&](const Tensor& x) { h = h.detach() * 0.5 + x; },
                            {.max_batch = 5});
  step(x_);
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<PlanError>(AllOf(
                  HasSubstr("max_batch 5"), HasSubstr("shapes [3, 4] and [5"),
                  HasSubstr("compile it without .max_batch"))));
  EXPECT_EQ(h.shape(), (Shape{3, 4}));
  EXPECT_THAT(floats(h), Each(1.0F));
}

TEST_F(StepBatchInAStateTest, TheFirstCallIsRefusedAsWell) {
  Tensor h = zeros({3, 4});
  auto step = neap::compile([&](const Tensor& x) { h = h * 0.5 + x; },
                            {.max_batch = 5});
  EXPECT_THROW(step(x_), PlanError);
  EXPECT_THAT(floats(h), Each(0.0F));
}

TEST_F(StepBatchInAStateTest, ASizeToWarmIsNamed) {
  Tensor h = zeros({5, 4});
  auto step = neap::compile([&](const Tensor& x) { h = h * 0.5 + x; },
                            {.max_batch = 5, .warm = {2}});
  EXPECT_THAT(
      [&] {
        step(ones({5, 4}));
      },
      ThrowsMessage<PlanError>(HasSubstr("for a batch of 2 before")));
}

TEST_F(StepBatchInAStateTest, TheLargestBatchAloneIsServed) {
  Tensor h = zeros({3, 4});
  auto step = neap::compile([&](const Tensor& x) { h = h * 0.5 + x; },
                            {.max_batch = 3});
  step(x_);
  step(x_);
  EXPECT_THAT(floats(h), Each(1.5F));
}

// A step that fails with the call's own sizes is told of these sizes.
TEST_F(StepBatchInAStateTest, AFaultOfTheStepIsToldAsItIs) {
  const Tensor w = ones({7});
  auto step =
      neap::compile([&](const Tensor& x) { return x * w; }, {.max_batch = 5});
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<ShapeError>(
                  AllOf(HasSubstr("[3, 4]"), Not(HasSubstr("max_batch")))));
}

}  // namespace
}  // namespace neap::compiler
