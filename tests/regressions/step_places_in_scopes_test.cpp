// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that kept, moved or released a tensor of before did nothing where the
// tensor was in no scope at its trace; nor did its runs, where it was in one.
#include <gmock/gmock.h>

#include "neap/compile/compile_for_test.hpp"
#include "neap/memory/composite.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const auto kIsRefused = ThrowsMessage<TraceError>(HasSubstr("scope:"));

class StepPlacesInScopesTest : public ::testing::Test {
 protected:
  // The first call does nothing, the second would do something.
  template <class Act>
  void expect_noticed(const Act& act) const {
    const Tensor k = full({2}, 2.0);
    auto step = neap::compile([&](const Tensor& x) {
      Tensor y = x * k;
      act(k);
      return y;
    });
    Scope scope;
    const Tensor x = x_ * 1.0;
    EXPECT_THAT(floats(step(x)), Each(2.0F));
    EXPECT_THAT(floats(step(x)), Each(2.0F));
    EXPECT_EQ(step.traces(), 1);
    scope.attach(k);
    EXPECT_THAT([&] { step(x); }, kIsRefused);
    EXPECT_EQ(Scope::of(k.scope_member()), &scope);
    EXPECT_FALSE(scope.keeps(k.scope_member()));
    scope.detach(k);
    EXPECT_THAT(floats(step(x)), Each(2.0F));
  }

  Tensor x_ = full({2}, 1.0);
};

TEST_F(StepPlacesInScopesTest, ATensorInAScopeAtALaterCallIsNoticed) {
  expect_noticed([](const Tensor& k) { Scope::current()->keep(k); });
  expect_noticed([](const Tensor& k) { Scope::current()->move_to_outer(k); });
  expect_noticed([](const Tensor& k) { Scope::current()->detach(k); });
  expect_noticed([](const Tensor& k) { Scope::current()->release(k); });
  expect_noticed([](const Tensor& k) { memory::detach_from_scope(k); });
  expect_noticed([](const Tensor& k) {
    const Tensor copy = k;
    Scope::current()->keep(copy);
  });
}

TEST_F(StepPlacesInScopesTest, ATensorInAnotherScopeAtALaterCallIsNoticed) {
  const Tensor k = full({2}, 2.0);
  Scope outer;
  Scope scope;
  scope.attach(k);
  auto step = neap::compile([&](const Tensor& x) {
    Tensor y = x * k;
    scope.attach(k);
    return y;
  });
  EXPECT_THAT(floats(step(x_)), Each(2.0F));
  outer.attach(k);
  EXPECT_THAT([&] { step(x_); }, kIsRefused);
  EXPECT_EQ(Scope::of(k.scope_member()), &outer);
}

// Its stand-in is of no scope, so that nothing was done from the first call on.
TEST_F(StepPlacesInScopesTest, AnArgumentOfAnotherScopeIsRefused) {
  Scope outer;
  const Tensor argument = x_ * 1.0;
  const Scope scope;
  const auto refuses = [&](auto act) {
    auto step = neap::compile([&](const Tensor& x) {
      act(x);
      return x * 2.0;
    });
    EXPECT_THAT([&] { step(argument); }, kIsRefused);
    EXPECT_EQ(Scope::of(argument.scope_member()), &outer);
    EXPECT_FALSE(outer.keeps(argument.scope_member()));
  };
  refuses([&](const Tensor& x) { outer.keep(x); });
  refuses([&](const Tensor& x) { outer.move_to_outer(x); });
  refuses([&](const Tensor& x) { outer.release(x); });
  refuses([&](const Tensor& x) { outer.attach(x); });
  refuses([](const Tensor& x) { memory::detach_from_scope(x); });
  refuses([](const Tensor& x) {
    Scope own;
    own.attach(x);
    own.detach(x);
  });
}

// The members of other calls are others.
TEST_F(StepPlacesInScopesTest, AllOfAScopeOfBeforeIsNotReleased) {
  Scope scope;
  auto step = neap::compile([&](const Tensor& x) {
    Tensor y = x * 2.0;
    scope.release_all();
    return y;
  });
  EXPECT_THAT([&] { step(x_); }, kIsRefused);
}

struct Frame : Composite {
  explicit Frame(const Tensor& part) : image(part) { absorb(part); }
  Tensor image;
};

TEST_F(StepPlacesInScopesTest, ACompositeOfBeforeIsRefused) {
  const Frame frame(x_ * 2.0);
  auto step = neap::compile([&](const Tensor& x) {
    Scope::current()->keep(frame);
    return x * 2.0;
  });
  const Scope scope;
  EXPECT_THAT([&] { step(x_ * 1.0); }, kIsRefused);
}

TEST_F(StepPlacesInScopesTest, AStateWhoseScopeMattersIsRefused) {
  Tensor h = full({2}, 2.0);
  auto step = neap::compile([&](const Tensor& x) {
    memory::detach_from_scope(h);
    h = h + x;
  });
  EXPECT_THAT([&] { step(x_); }, kIsRefused);
  EXPECT_THAT(floats(h), Each(2.0F));
}

TEST_F(StepPlacesInScopesTest, WhereAScopeWasOpenedIsAGuardOrRefused) {
  std::optional<Scope> apart;
  apart.emplace("first");
  auto step = neap::compile(
      [&](const Tensor& x) {
        return base::site_of(apart->site()).function ==
                       std::string_view("first")
                   ? x * 2.0
                   : x * 3.0;
      },
      {.keep_all = true});
  EXPECT_THAT(floats(step(x_)), Each(2.0F));
  apart.emplace("second");
  EXPECT_THAT(floats(step(x_)), Each(3.0F));
  apart->close();
  EXPECT_THAT([&] { step(x_); }, ThrowsMessage<TraceError>(HasSubstr("site:")));
}

}  // namespace
}  // namespace neap::compiler
