// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step within a budget, whose batch of another size came back, was refused
// though it fits alone: what trials of plans had added to the pools of its trace
// stayed there, in the way of the next attempt.
#include <gtest/gtest.h>

#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/compile/compile.hpp"
#include "neap/models/mlp.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

struct Training {
  Training() : net(std::vector<std::int64_t>{97, 131, 67, 203, 59, 11}) {}
  auto step() {
    return [this](const Tensor& x, const Tensor& y) {
      Tensor loss = cross_entropy(net(x), y);
      backward(loss);
      adam.step();
      adam.zero_grad();
      return loss;
    };
  }
  models::Mlp net;
  optim::Adam adam{net.parameters(), {.lr = 1e-2}};
};

// RETURNS: whether all batches were met.
bool is_met(Bytes room, const std::vector<std::int64_t>& batches) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  Training training;
  auto step = compile(training.step(),
                      {.budget = domain->stats().external + room});
  try {
    for (const std::int64_t rows : batches) {
      step(zeros({rows, 97}), zeros({rows}, i64));
    }
  } catch (const OutOfMemory&) {
    return false;
  } catch (const PlanError&) {
    return false;
  }
  return true;
}

TEST(StepAfterSmallerBatchTest, WhateverFitsAloneFitsInTurn) {
  if (base::kAddressSanitizer) {
    GTEST_SKIP() << "blocks are held by the byte: the rooms are other ones";
  }
  static_cast<void>(is_met(kUnlimited / 2, {137}));  // touches the code
  int met = 0;
  for (Bytes room = 1'640'000; room <= 1'880'000; room += 40'000) {
    if (is_met(room, {137}) && is_met(room, {41})) {
      EXPECT_TRUE(is_met(room, {137, 137, 41, 137, 41, 137})) << room;
      ++met;
    }
  }
  EXPECT_GT(met, 2);
}

}  // namespace
}  // namespace neap
