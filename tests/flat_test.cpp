// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A settled loop is flat: in bytes, in counts, and in what it asks the system
// for.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "support/counting_malloc.hpp"
#include "training_run.hpp"

namespace neap::tests {
namespace {

void expect_same(const memory::Stats& now, const memory::Stats& before) {
  EXPECT_EQ(now.live, before.live);
  EXPECT_EQ(now.live_blocks, before.live_blocks);
  EXPECT_EQ(now.held, before.held);
  EXPECT_EQ(now.peak, before.peak);
  EXPECT_EQ(now.books, before.books);
  EXPECT_EQ(now.system_calls, before.system_calls);
}

void expect_flat(std::int64_t steps) {
  const auto domain = Domain::create({.host = memory::HostAllocator::kPooled});
  {
    TrainingRun run(*domain,
                    {.width = 8, .hidden = {12}, .batch = 8, .samples = 40});
    for (int i = 0; i < 100; ++i) {
      run.step();
    }
    const memory::Stats at_100 = domain->stats();
    for (std::int64_t i = 100; i < steps; ++i) {
      run.step();
    }
    expect_same(domain->stats(), at_100);
  }
  EXPECT_EQ(domain->stats().live, 0);
}

TEST(FlatTest, BytesAndCountsAtStep100EqualThoseAtTheEnd) {
  expect_flat(100'000);
}

TEST(FlatTest, MakesNoHeapOrMapCallFromTheThirdStep) {
  if (!support::is_counting()) {
    GTEST_SKIP() << "a sanitizer counts here";
  }
  const auto domain = Domain::create();
  TrainingRun run(*domain, {.width = 784,
                            .hidden = {512, 256},
                            .batch = 128,
                            .samples = 640,
                            .threads = 2});
  for (int i = 0; i < 2; ++i) {
    run.step();
  }
  support::reset_outside_calls();
  for (int i = 0; i < 20; ++i) {
    run.step();
  }
  const support::OutsideStats outside = support::outside_stats();
  EXPECT_EQ(outside.heap_calls, 0);
  EXPECT_EQ(outside.map_calls, 0);
  EXPECT_LT(outside.largest_heap_call, 128 * kKiB);
  EXPECT_LT(outside.largest_map_call, 128 * kKiB);
}

TEST(FlatTest, AMillionRecordedOpsWithoutABackwardKeepNothing) {
  const auto domain = Domain::create({.host = memory::HostAllocator::kPooled});
  const UseDomain use(*domain);
  const Tensor x = requires_grad_(ones({1}));
  Tensor unused = tanh(neg(x));
  unused = tanh(neg(x));
  const memory::Stats before = domain->stats();
  for (int i = 0; i < 500'000; ++i) {
    unused = tanh(neg(x));
  }
  expect_same(domain->stats(), before);
}

// A function of three inputs, its gradient and a product with its Hessian.
void differentiate_twice(std::span<const Tensor> inputs) {
  const Tensor value = sum(tanh(inputs[0] * inputs[1]) + exp(inputs[2]));
  const auto first = grad(std::span(&value, 1), inputs, {.create_graph = true});
  const Tensor along = sum(first[0] * first[1]) + sum(first[2]);
  const auto second = grad(std::span(&along, 1), inputs);
  EXPECT_TRUE(second[0].defined());
}

TEST(FlatTest, TenThousandFirstAndSecondDerivativesKeepNothing) {
  const auto domain = Domain::create({.host = memory::HostAllocator::kPooled});
  const UseDomain use(*domain);
  const std::vector<Tensor> inputs{requires_grad_(full({8}, 0.5)),
                                   requires_grad_(full({8}, 0.25)),
                                   requires_grad_(full({8}, -1.0))};
  for (int i = 0; i < 10; ++i) {
    differentiate_twice(inputs);
  }
  const memory::Stats before = domain->stats();
  for (int i = 10; i < 10'000; ++i) {
    differentiate_twice(inputs);
  }
  expect_same(domain->stats(), before);
}

}  // namespace
}  // namespace neap::tests
