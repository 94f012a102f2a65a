// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows N5 and N7: what grows, and what is left when memory runs out.
#include <array>

#include "neap/testing/fail_sweep.hpp"
#include "support.hpp"

namespace neap::four_systems {
namespace {

// The work of one thread with a graph: it is built, differentiated twice over,
// released part by part.
void use_a_graph(const Tensor& x) {
  const Tensor hidden = tanh(x * 2.0);
  const Tensor loss = sum(hidden * hidden);
  const auto first = grad(loss, {x}, {.create_graph = true});
  backward(sum(square(first[0])));
}

TEST(FourSystemsTest, AnyAllocationMayFailAndEverythingIsUnchanged_N7) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor x = leaf({0.1, 0.2, 0.3});
  backward(sum(x * 4.0));
  const std::vector<double> gradient = numbers(x.grad());
  const auto result = testing::sweep_allocation_failures(
      *domain, [&] { use_a_graph(x); },
      [&](std::int64_t) {
        EXPECT_EQ(numbers(x.grad()), gradient);
        EXPECT_THAT(numbers(x), ElementsAre(0.1, 0.2, 0.3));
      });
  EXPECT_TRUE(result.ok()) << result.problems.front();
  EXPECT_GT(result.failures, 20);
  EXPECT_NE(numbers(x.grad()), gradient);
}

TEST(FourSystemsTest, GrowthFromStepToStepIsNamed_N5) {
  report::Growth growth;
  std::vector<Tensor> losses;
  losses.reserve(100);
  const Tensor w = leaf({1, 2});
  int line = 0;
  for (int i = 0; i < 20; ++i) {
    losses.push_back(sum(square(w)));  // should be .item()
    line = __LINE__ - 1;
    growth.step();
  }
  EXPECT_TRUE(growth.has_grown());
  EXPECT_THAT(growth.format(),
              HasSubstr("neap_test.cpp:" + std::to_string(line)));
}

TEST(FourSystemsTest, AFlatLoopDoesNotGrow_N5) {
  report::Growth growth;
  const Tensor w = leaf({1, 2});
  double total = 0;
  for (int i = 0; i < 20; ++i) {
    total += sum(square(w)).item();
    growth.step();
  }
  EXPECT_FALSE(growth.has_grown()) << growth.format();
  EXPECT_GT(total, 0);
}

TEST(FourSystemsTest, TheErrorSaysWhoHasTheMemory_N7) {
  const Tensor x = ones({1 << 16});
  memory::domain().trim();
  const Budget budget(memory::domain().stats().held +
                      memory::domain().stats().external + 64 * kKiB);
  try {
    const Tensor y = x * 2.0;
    FAIL() << "the budget was passed";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.details().requested, 4 << 16);
    EXPECT_THAT(error.what(), HasSubstr("neap_test.cpp"));
  }
  EXPECT_EQ(x.at({0}), 1);
}

}  // namespace
}  // namespace neap::four_systems
