// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Arguments and results out of the ordinary, and steps whose surroundings
// change between calls.
#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <optional>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/autograd/rematerialise.hpp"
#include "neap/compile/compile.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/shadow_space.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<float> floats(const Tensor& t) {
  const Tensor dense = contiguous(t);
  const std::span<const float> values = dense.values<float>();
  return {values.begin(), values.end()};
}

Tensor doubled(const Tensor& x) {
  return exp(x) * 2.0 + x;
}

// --- results ---------------------------------------------------------------

TEST(CompileEdgesTest, AnArgumentMayBeAResult) {
  auto step = neap::compile([](const Tensor& x) { return std::pair(x, x); });
  const Tensor x = full({2}, 3.0);
  for (int i = 0; i < 3; ++i) {
    const auto [a, b] = step(x);
    EXPECT_TRUE(a.is_alias_of(x));
    EXPECT_TRUE(b.is_alias_of(x));
    EXPECT_THAT(floats(a), Each(3.0F));
  }
  EXPECT_THAT(floats(step(zeros({2})).first), Each(0.0F));
}

TEST(CompileEdgesTest, AParameterMayBeAResult) {
  const Tensor w = full({2}, 3.0);
  auto step = neap::compile([&](const Tensor& x) {
    add_(w, x);
    return w;
  });
  const Tensor held = step(ones({2}));
  EXPECT_TRUE(held.is_alias_of(w));
  step(ones({2}));
  EXPECT_THAT(floats(held), Each(5.0F));  // one memory, as eagerly
}

TEST(CompileEdgesTest, ResultsMayBeViewsOfOneAnotherAndTheSameTwice) {
  for (const bool keep : {false, true}) {
    CompileOptions options;
    options.keep_all = keep;
    auto step = neap::compile(
        [](const Tensor& x) {
          const Tensor y = x + 1.0;
          return std::tuple(y, transpose(y, 0, 1), y);
        },
        options);
    for (int i = 0; i < 3; ++i) {
      const auto [y, t, again] = step(from_values({1, 2, 3, 4}, {2, 2}));
      EXPECT_THAT(floats(y), ElementsAre(2, 3, 4, 5));
      EXPECT_THAT(floats(t), ElementsAre(2, 4, 3, 5));
      EXPECT_TRUE(t.is_alias_of(y));
      EXPECT_TRUE(again.is_alias_of(y));
    }
  }
}

TEST(CompileEdgesTest, OfTheResultsOfAStepThatGoesThoseThatAreKeptStay) {
  CompileOptions options;
  options.keep.push_back(1);
  auto step = std::make_unique<Compiled<Tensor (*)(const Tensor&)>>(
      &doubled, CompileOptions{}, CallSite::here());
  auto kept = std::make_unique<
      Compiled<std::function<std::pair<Tensor, Tensor>(const Tensor&)>>>(
      [](const Tensor& x) { return std::pair(x + 1.0, x + 2.0); }, options,
      CallSite::here());
  const Tensor one = (*step)(zeros({2}));
  const auto [lent, mine] = (*kept)(zeros({2}));
  step.reset();
  kept.reset();
  EXPECT_THROW(one.item(), UseAfterRelease);
  EXPECT_THROW(exp(lent), UseAfterRelease);
  EXPECT_THAT(floats(mine), Each(2.0F));
}

TEST(CompileEdgesTest, KeptResultsOfAScopeGoWithIt) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  CompileOptions options;
  options.keep_all = true;
  auto step = neap::compile(doubled, options);
  const Tensor x = zeros({2});
  Tensor held;
  Tensor out;
  for (int i = 0; i < 4; ++i) {
    const memory::Scope scope;
    held = step(x);
    EXPECT_THAT(floats(held), Each(2.0F));
  }
  EXPECT_FALSE(held.defined());
  out = step(x);
  EXPECT_THAT(floats(out), Each(2.0F));
  EXPECT_EQ(step.traces(), 1);
}

// --- arguments -------------------------------------------------------------

TEST(CompileEdgesTest, AnotherDTypeIsAnotherProgram) {
  auto step = neap::compile([](const Tensor& x) { return x + x; });
  EXPECT_EQ(step(ones({2})).dtype(), f32);
  EXPECT_EQ(step(ones({2}, f64)).dtype(), f64);
  EXPECT_EQ(step(ones({2}, i64)).dtype(), i64);
  EXPECT_THAT(floats(step(ones({2}))), Each(2.0F));
  EXPECT_EQ(step.traces(), 3);
}

TEST(CompileEdgesTest, AnotherSpaceIsAnotherProgram) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  testing::ShadowSpace shadow(*domain);
  auto step = neap::compile([](const Tensor& x) { return x + x; });
  EXPECT_THAT(floats(step(ones({2}))), Each(2.0F));
  const Tensor there = step(shadow.from_host(ones({2})));
  EXPECT_EQ(there.space(), shadow.space());
  EXPECT_THAT(floats(to(there, memory::kHost)), Each(2.0F));
  EXPECT_EQ(step.traces(), 2);
  EXPECT_EQ(shadow.foreign_views(), 0);
}

TEST(CompileEdgesTest, ABatchMayBeEmpty) {
  for (const std::int64_t max_batch : {0, 4}) {
    const Tensor w = requires_grad_(full({3, 2}, 2.0));
    CompileOptions options;
    options.max_batch = max_batch;
    auto step = neap::compile(
        [&](const Tensor& x) {
          zero_grad(std::span(&w, 1));
          const Tensor y = relu(matmul(x, w));
          backward(sum(y));
          return y;
        },
        options);
    for (const std::int64_t rows : {0, 2, 0, 2}) {
      const Tensor y = step(ones({rows, 3}));
      EXPECT_EQ(y.shape(), Shape({rows, 2}));
      EXPECT_THAT(floats(y), Each(6.0F));
      EXPECT_THAT(floats(w.grad()), Each(static_cast<float>(rows)));
    }
  }
}

TEST(CompileEdgesTest, APartOfATensorIsAnArgumentLikeAnother) {
  auto step = neap::compile(doubled);
  const Tensor all = from_values({1, 0, 0, 7}, {4});
  const Tensor part = narrow(all, 0, 1, 2);
  EXPECT_THAT(floats(step(part)), Each(2.0F));
  EXPECT_EQ(floats(step(expand(zeros({1}), {3}))), floats(doubled(zeros({3}))));
}

TEST(CompileEdgesTest, AnUndefinedArgumentIsRefused) {
  auto step = neap::compile(doubled);
  EXPECT_THROW(step(Tensor()), Error);
  EXPECT_THAT(floats(step(zeros({1}))), ElementsAre(2));
}

TEST(CompileEdgesTest, NaNsGoThroughAsEagerly) {
  auto step = neap::compile(
      [](const Tensor& x) { return std::pair(relu(x), maximum(x, x * 0.0)); });
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = from_values({nan, -1.0, 1.0}, {3});
  const auto [a, b] = step(x);
  const auto same = [](const Tensor& one, const Tensor& other) {
    return std::memcmp(one.values<float>().data(), other.values<float>().data(),
                       3 * sizeof(float)) == 0;
  };
  EXPECT_TRUE(same(a, relu(x)));
  EXPECT_TRUE(same(b, maximum(x, x * 0.0)));
}

// --- where it is called ----------------------------------------------------

TEST(CompileEdgesTest, AnotherDomainIsAnotherProgram) {
  const auto one = Domain::create();
  const auto two = Domain::create();
  const UseDomain use(*one);
  const Tensor x = zeros({2});
  auto step = neap::compile(doubled);
  EXPECT_THAT(floats(step(x)), Each(2.0F));
  {
    const UseDomain inner(*two);
    EXPECT_THAT(floats(step(zeros({2}))), Each(2.0F));
  }
  EXPECT_THAT(floats(step(x)), Each(2.0F));
  EXPECT_EQ(step.traces(), 2);
}

TEST(CompileEdgesTest, WithoutGradientsIsAnotherProgram) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  auto step = neap::compile([&](const Tensor& x) {
    const Tensor y = w * x;
    if (y.requires_grad()) {
      zero_grad(std::span(&w, 1));
      backward(sum(y));
    }
    return y;
  });
  step(ones({2}));
  EXPECT_TRUE(w.grad().defined());
  set_grad(w, {});
  {
    const NoGrad no_grad;
    EXPECT_THAT(floats(step(ones({2}))), Each(3.0F));
    EXPECT_THAT(floats(step(w)), Each(9.0F));  // tracked, and nobody asks
  }
  EXPECT_FALSE(w.grad().defined());
  EXPECT_EQ(step.traces(), 2);
}

TEST(CompileEdgesTest, InsideJvpItIsAPartOfWhatIsDifferentiated) {
  auto step = neap::compile(doubled);
  const Tensor x = full({2}, 0.5);
  const auto plain =
      jvp([](const Tensor& a) { return doubled(a); }, x, ones({2}));
  const auto inside =
      jvp([&](const Tensor& a) { return step(a); }, x, ones({2}));
  EXPECT_EQ(floats(inside.tangent), floats(plain.tangent));
  EXPECT_EQ(step.traces(), 0);
}

TEST(CompileEdgesTest, InsideARematerialisedSegmentItIsAPartOfThat) {
  auto step = neap::compile(
      [](const Tensor& x, const Tensor& a) { return exp(x) * a; });
  const Tensor w = requires_grad_(full({2}, 0.5));
  backward(sum(
      square(rematerialise([&](const Tensor& h) { return step(h, 3.0); })(w))));
  const Tensor inside = w.grad();
  set_grad(w, {});
  backward(sum(square(exp(w) * 3.0)));
  EXPECT_EQ(floats(inside), floats(w.grad()));
  EXPECT_EQ(step.traces(), 0);
}

TEST(CompileEdgesTest, NewElementsOfAParameterAreSeenInTheNextCall) {
  const Tensor w = full({2}, 3.0);
  auto step = neap::compile([&](const Tensor& x) { return x * w; });
  EXPECT_THAT(floats(step(ones({2}))), Each(3.0F));
  copy_(w, full({2}, 4.0));
  EXPECT_THAT(floats(step(ones({2}))), Each(4.0F));
  EXPECT_EQ(step.traces(), 1);
}

TEST(CompileEdgesTest, AModelMayGoBeforeTheStepThatUsedIt) {
  auto model = std::make_unique<nn::Linear>(2, 2);
  auto step = neap::compile([&](const Tensor& x) { return (*model)(x); });
  const std::vector<float> expected = floats((*model)(ones({1, 2})));
  EXPECT_EQ(floats(step(ones({1, 2}))), expected);
  model.reset();
  step.reset();
}

}  // namespace
}  // namespace neap::compiler
