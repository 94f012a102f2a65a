// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Steps that leave gradients and add to them: where they lie, who sees what.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/program/dot.hpp"
#include "neap/program/json.hpp"
#include "neap/program/print.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

// Backward and no zero_grad.
struct Sums {
  Tensor w = requires_grad_(full({64, 32}, 0.125));
  Tensor b = requires_grad_(zeros({32}));

  Tensor operator()(const Tensor& x) const {
    Tensor loss = sum(square(tanh(matmul(x, w) + b)));
    backward(loss);
    return loss;
  }
};

Tensor batch(int i) {
  Generator generator(static_cast<std::uint64_t>(i));
  const UseGenerator use(generator);
  return randn({16, 64});
}

const void* place_of(const Tensor& leaf) {
  return leaf.grad().array()->storage()->data();
}

TEST(CompileGradientsTest, AreAddedToWhereTheyLie) {
  const Sums plain;
  const Sums compiled;
  auto step = neap::compile(compiled);
  const void* place = nullptr;
  for (int i = 0; i < 5; ++i) {
    const double loss = plain(batch(i)).item();
    EXPECT_EQ(step(batch(i)).item(), loss);
    EXPECT_EQ(floats(compiled.w.grad()), floats(plain.w.grad())) << i;
    EXPECT_EQ(floats(compiled.b.grad()), floats(plain.b.grad())) << i;
    if (i > 0) {
      EXPECT_EQ(place_of(compiled.w), place);
    }
    place = place_of(compiled.w);
  }
  EXPECT_EQ(step.traces(), 2);  // without a gradient, and with one
}

TEST(CompileGradientsTest, ASettledLoopAllocatesNothing) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Sums sums;
  auto step = neap::compile(sums);
  const Tensor x = batch(0);
  step(x);
  step(x);
  const std::int64_t requests = domain->requests();
  const Bytes live = domain->stats().live;
  for (int i = 0; i < 10; ++i) {
    step(x);
  }
  EXPECT_EQ(domain->requests(), requests);
  EXPECT_EQ(domain->stats().live, live);
}

// The highest that is live while x is given to `step` once more.
template <class Step>
Bytes peak_of(Domain& domain, Step&& step, const Tensor& x) {
  step(x);
  step(x);
  domain.reset_peak();
  step(x);
  return domain.stats().live_peak;
}

// Layers of 64 KiB each.
struct Deep {
  memory::Vector<Tensor> layers;

  Deep() {
    for (int i = 0; i < 6; ++i) {
      layers.push_back(requires_grad_(full({128, 128}, 0.0625)));
    }
  }
  void operator()(const Tensor& x) const {
    Tensor y = x;
    for (const Tensor& layer : layers) {
      y = tanh(matmul(y, layer));
    }
    backward(sum(y));
  }
};

// Eager holds old gradients and new ones, all of them, when it adds.
TEST(CompileGradientsTest, NeedLessThanEagerOnes) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor x = full({4, 128}, 0.5);
  const Bytes before = domain->stats().live;
  Bytes eager = 0;
  {
    const Deep deep;
    eager = peak_of(*domain, deep, x) - before;
  }
  const Deep deep;
  auto step = neap::compile(deep);
  const Bytes compiled = peak_of(*domain, step, x) - before;
  EXPECT_GT(eager, 3 * 6 * 64 * kKiB);
  EXPECT_LE(step.arena_bytes(), 2 * 64 * kKiB);
  EXPECT_LT(compiled, eager);
}

TEST(CompileGradientsTest, ThePredictionCountsThemOnce) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Sums sums;
  sums(batch(0));
  auto step = neap::compile(sums);
  step.prepare({tensor::Spec{f32, {16, 64}}});
  const Prediction said = step.prediction();
  EXPECT_EQ(said.persistent_by_category[static_cast<std::size_t>(
                memory::Category::kGradients)] -
                said.constants,
            (64 * 32 + 32) * 4);
  step(batch(0));
  EXPECT_EQ(step.measured().persistent, said.persistent);
  EXPECT_EQ(step.traces(), 1);
}

TEST(CompileGradientsTest, OneThatIsHeldKeepsItsElements) {
  const Sums plain;
  const Sums compiled;
  auto step = neap::compile(compiled);
  for (int i = 0; i < 4; ++i) {
    plain(batch(i));
    step(batch(i));
    const Tensor held = compiled.w.grad();
    const std::vector<float> before = floats(held);
    plain(batch(i));
    step(batch(i));
    EXPECT_EQ(floats(held), before) << i;
    EXPECT_EQ(floats(compiled.w.grad()), floats(plain.w.grad())) << i;
  }
}

TEST(CompileGradientsTest, OneThatLiesInALargerTensorIsLeftThere) {
  const Tensor all = zeros({3, 32});
  const Sums sums;
  set_grad(sums.b, select(all, 0, 1));
  auto step = neap::compile(sums);
  step(batch(0));
  step(batch(1));
  EXPECT_EQ(floats(all), std::vector<float>(96, 0.0F));
  EXPECT_FALSE(sums.b.grad().is_alias_of(all));
}

TEST(CompileGradientsTest, OneThatIsReturnedIsTheLeafs) {
  const Tensor w = requires_grad_(ones({4}));
  auto step = neap::compile([&](const Tensor& x) {
    backward(sum(w * x));
    return w.grad();
  });
  const Tensor first = step(ones({4}));
  const Tensor second = step(ones({4}));
  const Tensor third = step(ones({4}));
  EXPECT_EQ(first.at({0}), 1.0);
  EXPECT_EQ(second.at({0}), 2.0);
  EXPECT_EQ(third.at({0}), 3.0);
  EXPECT_TRUE(third.is_alias_of(w.grad()));
}

TEST(CompileGradientsTest, SeveralBackwardsAddInOrder) {
  const auto with = [](const Sums& sums) {
    return [&sums](const Tensor& x) {
      backward(sum(square(matmul(x, sums.w))));
      backward(sum(tanh(matmul(x, sums.w))));
      mul_(sums.w.grad(), 0.5);
    };
  };
  const Sums plain;
  const Sums compiled;
  auto step = neap::compile(with(compiled));
  for (int i = 0; i < 4; ++i) {
    with(plain)(batch(i));
    step(batch(i));
    EXPECT_EQ(floats(compiled.w.grad()), floats(plain.w.grad())) << i;
  }
}

// A step that adds to a gradient, and then looks at what it has computed.
struct Checked {
  Tensor w = requires_grad_(ones({4}));

  void operator()(const Tensor& x) const {
    const Tensor y = w * x;
    backward(sum(y));
    const NoGrad none;
    cross_entropy(reshape(y, {1, 4}), cast(sum(x, {0}, true), i64));
  }
};

TEST(CompileGradientsTest, ACheckAfterwardsTearsTheStepOrLeavesItWhole) {
  for (const bool is_held : {false, true}) {
    const Checked checked;
    checked(zeros({4}));
    CompileOptions options;
    options.passes.reorder = false;  // the check could come first
    auto step = neap::compile(checked, options);
    step(full({4}, 0.5));
    EXPECT_EQ(checked.w.grad().at({0}), 0.5);
    Tensor held = is_held ? checked.w.grad() : Tensor();
    if (is_held) {
      EXPECT_THROW(step(ones({4})), ValueError);
      EXPECT_EQ(checked.w.grad().at({0}), 0.5);
    } else {
      EXPECT_THROW(step(ones({4})), TornStep);
    }
  }
}

TEST(CompileGradientsTest, AProgramThatHoldsNoneCanBeShown) {
  const Sums sums;
  auto step = neap::compile(sums);
  for (int i = 0; i < 3; ++i) {
    step(batch(i));
  }
  EXPECT_NE(print(step.program()).find("gradients"), memory::String::npos);
  EXPECT_FALSE(to_dot(step.program()).empty());
  EXPECT_FALSE(to_json(step.program()).empty());
}

}  // namespace
}  // namespace neap::compiler
