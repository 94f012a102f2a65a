// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step within a budget, whose next trace was refused in its turn, looked for
// the arena of a program that was not there any more, and crashed. Some bytes
// beside it decide which request is refused.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

// The number of two calls that are refused beside so many bytes.
template <class Call>
int refused_beside(Bytes beside, const Call& call) {
  const Tensor more = zeros({beside / 4});
  int refused = 0;
  for (int i = 0; i < 2; ++i) {
    try {
      call(i);
    } catch (const OutOfMemory&) {
      ++refused;
    } catch (const PlanError&) {
      ++refused;
    }
  }
  return refused;
}

TEST(StepRefusedTwiceTest, ItGoesOnWhereThereIsRoomAgain) {
  int refused = 0;
  for (Bytes beside = 0; beside < 800'000; beside += 160'000) {
    const auto domain = Domain::create();
    const UseDomain use(*domain);
    nn::Sequential net;
    for (int i = 0; i < 12; ++i) {
      net.push(nn::Linear(64, 64));
      net.push(nn::Tanh());
    }
    optim::Adam adam(net.parameters(), {.lr = 1e-3});
    auto step = compile(
        [&](const Tensor& x) {
          Tensor loss = mean(square(net(x)));
          backward(loss);
          adam.step();
          adam.zero_grad();
          return loss;
        },
        {.budget = domain->stats().external + 3'000'000,
         .passes = {.micro_batches = 1}});
    const Tensor x = randn({1024, 64});
    step(x);
    step(x);
    refused += refused_beside(beside, [&](int call) {
      if (call == 0) {
        static_cast<void>(step.profile({.runs = 3}, x));
      } else {
        step(x);
      }
    });
    EXPECT_NO_THROW(step(x)) << beside;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace neap
