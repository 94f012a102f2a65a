// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A compiled training step whose middle lies and runs in another memory space
// leaves the bits of one on the host, and of the eager one.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/shadow_space.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

enum class Middle { kHost, kShadow };

struct Trained {
  Trace trace;
  Bytes arena_there = 0;
  std::int64_t launches = 0;
  std::int64_t foreign_views = 0;
};

// Ten steps of two layers with what is between them elsewhere.
template <class Compiling>
Trained train(Middle middle, const Compiling& compiling) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  Generator generator(7);
  const UseGenerator use_generator(generator);
  testing::ShadowSpace shadow(*domain);
  Trained run;
  {
    nn::Linear below(6, 8);
    nn::Linear above(8, 3);
    auto parameters = below.parameters();
    for (const Parameter& each : above.parameters()) {
      parameters.push_back(each);
    }
    optim::AdamW optimizer(parameters);
    const auto plain = [&](const Tensor& x, const Tensor& y) {
      Tensor h = below(x);
      if (middle == Middle::kShadow) {
        const Tensor there = to(h, shadow.space());
        h = to(tanh(there) * there + exp(-there), memory::kHost);
      } else {
        h = tanh(h) * h + exp(-h);
      }
      Tensor loss = cross_entropy(above(dropout(h, 0.2)), y);
      backward(loss);
      optimizer.step();
      optimizer.zero_grad();
      return loss;
    };
    compiling(plain, shadow, run);
    for (const Parameter& each : parameters) {
      for (const double value : each.tensor.to_vector()) {
        run.trace.losses.push_back(value);
      }
    }
    run.trace.hash = generator.state().draw;
  }
  run.launches = shadow.launches();
  run.foreign_views = shadow.foreign_views();
  return run;
}

template <class Step>
void run_ten(Step& step, Trained& run, std::int64_t samples = 5) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    Generator generator(100 + i);
    const auto [x, y] = [&] {
      const UseGenerator use(generator);
      Tensor in = randn({samples, 6});
      return std::pair(std::move(in), randint(0, 3, {samples}));
    }();
    run.trace.losses.push_back(step(x, y).item());
  }
}

Trained train_eagerly(Middle middle, std::int64_t samples = 5) {
  return train(middle, [=](auto& plain, testing::ShadowSpace&, Trained& run) {
    run_ten(plain, run, samples);
  });
}

Trained train_compiled(Middle middle, const CompileOptions& how = {},
                       std::int64_t samples = 5) {
  return train(middle,
               [&](auto& plain, testing::ShadowSpace& shadow, Trained& run) {
                 auto step = neap::compile(plain, how);
                 run_ten(step, run, samples);
                 EXPECT_EQ(step.traces(), 1);
                 EXPECT_EQ(step.plan().pages.views.empty(), !how.paged);
                 run.arena_there = step.plan().space(shadow.space()).bytes;
               });
}

TEST(CompiledSpacesTest, AMiddleElsewhereLeavesTheBitsOfTheHost) {
  const Trained here = train_eagerly(Middle::kHost);
  EXPECT_EQ(train_eagerly(Middle::kShadow).trace, here.trace);
  CompileOptions poison;
  poison.debug.poison = true;
  CompileOptions apart;
  apart.debug.no_reuse = true;
  for (const CompileOptions& how : {CompileOptions(), poison, apart}) {
    EXPECT_EQ(train_compiled(Middle::kHost, how).trace, here.trace);
    const Trained there = train_compiled(Middle::kShadow, how);
    EXPECT_EQ(there.trace, here.trace);
    EXPECT_GT(there.arena_there, 0);
    EXPECT_GE(there.launches, 10 * 2);  // forward and backward, fused
    EXPECT_EQ(there.foreign_views, 0);
  }
}

TEST(CompiledSpacesTest, TheHostsArenaMayBeInPagesBesideAnother) {
  constexpr std::int64_t kSamples = 2000;
  const Trained here = train_eagerly(Middle::kHost, kSamples);
  const Trained there =
      train_compiled(Middle::kShadow, on_scattered_pages(), kSamples);
  EXPECT_EQ(there.trace, here.trace);
  EXPECT_GT(there.arena_there, 0);
  EXPECT_EQ(there.foreign_views, 0);
}

// One arena may have grown when the other is refused.
TEST(CompiledSpacesTest, AHeldResultIsWhatItWasOrSaysThatItIsGone) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  testing::ShadowSpace shadow(*domain);
  auto step = neap::compile([&](const Tensor& x) {
    const Tensor there = to(x, shadow.space());
    return to(exp(there) * there, memory::kHost) + tanh(x);
  });
  const Tensor large = full({30'000}, 0.5);
  const Tensor held = step(full({3'000}, 0.25));
  const auto expected = held.to_vector();
  std::int64_t whole = 0;
  for (std::int64_t n = 1;; ++n) {
    domain->fail_at(n);
    try {
      step(large);
      break;
    } catch (const OutOfMemory&) {
      domain->fail_at(0);
    }
    try {
      ASSERT_EQ(held.to_vector(), expected) << n;
      ++whole;
    } catch (const UseAfterRelease&) {
    }
  }
  domain->fail_at(0);
  EXPECT_GT(whole, 20);
}

}  // namespace
}  // namespace neap::tests
