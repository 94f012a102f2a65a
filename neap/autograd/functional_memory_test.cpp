// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The memory that derivatives hold, and what they leave behind when memory
// ends.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/functional.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/fail_sweep.hpp"

namespace neap {
namespace {

constexpr Bytes kBytes = 8000;  // of a vector of 1000

// Every test runs in a domain of its own and ends with nothing live.
class FunctionalMemoryTest : public ::testing::Test {
 protected:
  ~FunctionalMemoryTest() override { EXPECT_EQ(domain_->stats().live, 0); }

  /// The most that `action` holds at a time beyond what is there.
  template <class Action>
  Bytes peak_of(Action&& action) {
    const Bytes before = domain_->stats().live;
    domain_->reset_peak();
    action();
    return domain_->stats().live_peak - before;
  }
  static void expect_ok(const testing::SweepResult& result) {
    EXPECT_TRUE(result.ok()) << result.problems.front();
    EXPECT_GT(result.failures, 3);
  }

  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

Tensor energy(const Tensor& x) {
  return sum(mul(tanh(x), square(x)));
}

Tensor chain(const Tensor& x, int steps) {
  Tensor y = x;
  for (int i = 0; i < steps; ++i) {
    y = tanh(mul(y, 0.5));
  }
  return y;
}

TEST_F(FunctionalMemoryTest, ForwardModeIsFlatHoweverLongTheProgram) {
  const Tensor x = ones({1000}, f64);
  const auto peak = [&](int steps) {
    const auto f = [steps](const Tensor& in) { return chain(in, steps); };
    return peak_of([&] { jvp(f, x, x); });
  };
  const Bytes few = peak(3);
  EXPECT_EQ(peak(3000), few);
  EXPECT_LE(few, 7 * kBytes);  // a rule's temporaries beside two pairs
}

TEST_F(FunctionalMemoryTest, ATangentGoesWithItsValue) {
  const Tensor x = ones({1000}, f64);
  jvp(
      [&](const Tensor& in) {
        const Bytes before = domain_->stats().live;
        Tensor y = neg(in);
        EXPECT_GE(domain_->stats().live, before + 2 * kBytes);
        y = Tensor();
        EXPECT_EQ(domain_->stats().live, before);
        return in;
      },
      x, x);
}

TEST_F(FunctionalMemoryTest, ForwardModeTakesOverWhatNothingElseNeeds) {
  const Tensor x = ones({1000}, f64);
  const auto f = [](const Tensor& in) {
    Tensor y = add(in, 1);
    const void* memory = y.values<double>().data();
    y = add(std::move(y), 1);
    EXPECT_EQ(y.values<double>().data(), memory);
    const Tensor held = y;
    y = add(std::move(y), 1);  // `held` needs it
    EXPECT_NE(y.values<double>().data(), memory);
    y = mul(std::move(y), held);  // the rule needs it
    return square(std::move(y));
  };
  const auto [value, tangent] = jvp(f, x, x);
  // y = (x + 3) (x + 2); the square's derivative is 2 y (2 x + 5).
  EXPECT_EQ(value.at({0}), 144.0);
  EXPECT_EQ(tangent.at({0}), 2 * 12.0 * 7.0);
}

TEST_F(FunctionalMemoryTest, LeavesNothingBeside) {
  const Tensor x = ones({1000}, f64);
  const Bytes before = domain_->stats().live;
  {
    const HvpResult r = hvp(energy, x, x);
    EXPECT_LE(domain_->stats().live - before, 2 * kBytes + 2000);
  }
  EXPECT_EQ(domain_->stats().live, before);
}

TEST_F(FunctionalMemoryTest, TangentsThatHoldATapeGoWithTheirLevel) {
  const Tensor w = requires_grad_(ones({1000}, f64));
  const Tensor x = ones({1000}, f64);
  const Bytes before = domain_->stats().live;
  {
    const auto f = [&](const Tensor& in) {
      Tensor y = in;
      for (int i = 0; i < 50; ++i) {
        y = tanh(mul(y, w));
      }
      return sum(y);
    };
    const JvpResult r = jvp(f, x, x);
    EXPECT_TRUE(r.tangent.requires_grad());
    EXPECT_GT(domain_->stats().live, before + 50 * kBytes);
    EXPECT_TRUE(grad(r.tangent, {w})[0].defined());
  }
  EXPECT_EQ(domain_->stats().live, before);
}

TEST_F(FunctionalMemoryTest, RecordsNoTangentThatReverseModeIsNotToSee) {
  const Tensor w = requires_grad_(ones({1000}, f64));
  const Tensor x = ones({1000}, f64);
  const auto f = [&](const Tensor& in) { return sum(mul(tanh(in), w)); };
  const JvpResult r = jvp(f, x, x, {.create_graph = false});
  EXPECT_TRUE(r.value.requires_grad());
  EXPECT_FALSE(r.tangent.requires_grad());
}

// The figure of the workplace: a function with its first and second
// derivatives, again and again, holds the same at the end of every iteration.
TEST_F(FunctionalMemoryTest, IsFlatOverTenThousandIterations) {
  const Tensor x = requires_grad_(ones({3}, f64));
  const Tensor v = ones({3}, f64);
  memory::Stats first{};
  Bytes peak = 0;
  for (int i = 0; i < 10'000; ++i) {
    domain_->reset_peak();
    {
      const Tensor y = energy(x);
      const Gradients g = grad(y, {x}, {.create_graph = true});
      const Gradients h = grad(sum(mul(g[0], v)), {x});
      const HvpResult product = hvp(energy, x, v);
      const Tensor second = directional_derivative(energy, x, {v, v});
      ASSERT_NEAR(sum(mul(product.product, v)).item(), second.item(), 1e-12);
      ASSERT_NEAR(sum(h[0]).item(), second.item(), 1e-12);
    }
    const memory::Stats now = domain_->stats();
    if (i == 10) {
      first = now;
      peak = now.live_peak;
    } else if (i > 10) {
      ASSERT_EQ(now.live, first.live) << "iteration " << i;
      ASSERT_EQ(now.live_blocks, first.live_blocks) << "iteration " << i;
      ASSERT_EQ(now.held, first.held) << "iteration " << i;
      ASSERT_EQ(now.live_peak, peak) << "iteration " << i;
    }
  }
}

// --- every request that fails ---

TEST_F(FunctionalMemoryTest, AJvpThatFailsLeavesNothing) {
  const Tensor x = ones({4}, f64);
  expect_ok(testing::sweep_allocation_failures(*domain_, [&] {
    const auto nested = [](const Tensor& in) {
      return jvp(energy, in, ones_like(in)).tangent;
    };
    jvp(nested, x, x);
  }));
  EXPECT_FALSE(x.array()->has_tangents());
}

TEST_F(FunctionalMemoryTest, AVjpThatFailsLeavesNothing) {
  const Tensor x = requires_grad_(ones({4}, f64));
  expect_ok(testing::sweep_allocation_failures(*domain_, [&] {
    const auto r = vjp(energy, x, {.create_graph = true});
    r.pullback(scalar(1.0, f64));
  }));
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(FunctionalMemoryTest, AnHvpThatFailsLeavesNothing) {
  const Tensor x = requires_grad_(ones({4}, f64));
  for (const bool create_graph : {false, true}) {
    expect_ok(testing::sweep_allocation_failures(*domain_, [&] {
      hvp(energy, x, x.detach(), {.create_graph = create_graph});
    }));
  }
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(FunctionalMemoryTest, MatricesThatFailLeaveNothing) {
  const Tensor x = ones({3}, f64);
  const auto f = [](const Tensor& in) { return tanh(in); };
  for (const JacobianMode mode :
       {JacobianMode::kForward, JacobianMode::kReverse}) {
    expect_ok(testing::sweep_allocation_failures(
        *domain_, [&] { jacobian(f, x, {.mode = mode}); }));
  }
  expect_ok(testing::sweep_allocation_failures(*domain_,
                                               [&] { hessian(energy, x); }));
}

TEST_F(FunctionalMemoryTest, AGradOfAGradThatFailsLeavesTheGraphUnchanged) {
  const Tensor x = requires_grad_(ones({4}, f64));
  const Tensor y = energy(x);
  expect_ok(testing::sweep_allocation_failures(*domain_, [&] {
    const Gradients g = grad(y, {x}, {.create_graph = true});
    grad(sum(g[0]), {x}, {.retain_graph = true});
  }));
  EXPECT_TRUE(grad(y, {x})[0].defined());
}

}  // namespace
}  // namespace neap
