// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A traced step that gave a captured composite a part, or assigned to it, was
// not refused, or left the composite so after it was refused: a trace changed
// what a run would not.
#include <gmock/gmock.h>

#include <optional>
#include <utility>

#include "neap/compile/compile_for_test.hpp"
#include "neap/memory/composite.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Pair : Composite {
  Pair(const Tensor& a, const Tensor& b) : one(a), other(b) { absorb(a, b); }
  Tensor one;
  Tensor other;
};

class StepChangesCompositesTest : public ::testing::Test {
 protected:
  std::size_t parts() const { return pair_.scope_member().parts().size(); }

  // The pair is as it was in the tests' scope, and `k_` in its home.
  void expect_unchanged() const {
    EXPECT_TRUE(pair_.defined());
    EXPECT_EQ(parts(), 2U);
    EXPECT_THAT(floats(pair_.one), Each(2.0F));
    EXPECT_THAT(floats(pair_.other), Each(3.0F));
    EXPECT_THAT(floats(k_), Each(5.0F));
    EXPECT_EQ(scope_->size(), scope_size_);
    EXPECT_EQ(Scope::of(k_.scope_member()), k_is_member_ ? &*scope_ : nullptr);
  }

  template <class Act>
  void expect_refused(const Act& act, const char* why = "composite") {
    for (const bool is_member : {false, true}) {
      SCOPED_TRACE(is_member);
      k_is_member_ = is_member;
      is_member ? scope_->attach(k_) : scope_->detach(k_);
      scope_size_ = scope_->size();
      auto step = neap::compile([&](const Tensor& x) {
        act(x);
        return x * 2.0;
      });
      for (int call = 0; call < 2; ++call) {
        EXPECT_THAT([&] { step(x_); },
                    ThrowsMessage<TraceError>(HasSubstr(why)));
        expect_unchanged();
      }
      {
        const Scope inner;
        EXPECT_THAT([&] { step(x_); },
                    ThrowsMessage<TraceError>(HasSubstr(why)));
      }
      expect_unchanged();
    }
    scope_->detach(k_);
    scope_->release(pair_);
    EXPECT_FALSE(pair_.one.defined());
    EXPECT_THAT(floats(k_), Each(5.0F));
  }

  Tensor x_ = full({2}, 1.0);
  Tensor k_ = full({2}, 5.0);
  std::optional<Scope> scope_{std::in_place};
  Pair pair_{x_ * 2.0, x_ * 3.0};
  std::int64_t scope_size_ = 0;
  bool k_is_member_ = false;
};

TEST_F(StepChangesCompositesTest, ACapturedTensorIsMadeNoPart) {
  expect_refused([&](const Tensor&) { pair_.absorb(k_); });
}

TEST_F(StepChangesCompositesTest, ATensorOfTheStepIsMadeNoPart) {
  expect_refused([&](const Tensor& x) { pair_.absorb(x * 2.0); });
}

TEST_F(StepChangesCompositesTest, AnArgumentIsMadeNoPart) {
  expect_refused([&](const Tensor& x) { pair_.absorb(x); });
}

TEST_F(StepChangesCompositesTest, ACopyIsTheSameComposite) {
  expect_refused([&](const Tensor&) {
    Composite copy = pair_;
    copy.absorb(k_);
  });
}

TEST_F(StepChangesCompositesTest, AnAssignedCompositeIsAsItWas) {
  expect_refused([&](const Tensor& x) { pair_ = Pair(x * 5.0, k_); });
}

TEST_F(StepChangesCompositesTest, ACompositeThatIsMovedFromIsAsItWas) {
  expect_refused([&](const Tensor&) {
    const Composite taken = std::move(static_cast<Composite&>(pair_));
  });
}

TEST_F(StepChangesCompositesTest, ACapturedCompositeIsMadeNoPart) {
  expect_refused(
      [&](const Tensor& x) {
        Composite own(x * 2.0);
        own.absorb(pair_);
      },
      "moves a composite");
}

TEST_F(StepChangesCompositesTest, AnEmptyCompositeStaysEmpty) {
  Composite empty;
  expect_refused([&](const Tensor&) { empty.absorb(k_); });
  EXPECT_FALSE(empty.defined());
}

TEST_F(StepChangesCompositesTest, AContainerOfCompositesDoesNotGrow) {
  std::vector<Composite> all;
  expect_refused([&](const Tensor&) {
    all.reserve(8);
    all.push_back(pair_);
  });
}

// It was of no scope afterwards: the one that is current is another.
TEST_F(StepChangesCompositesTest, APartOfTheStepsOwnStaysInItsOuterScope) {
  scope_->attach(k_);
  const auto size = scope_->size();
  auto step = neap::compile([&](const Tensor& x) {
    const Composite own(k_);
    return x * k_;
  });
  {
    const Scope inner;
    EXPECT_THAT([&] { step(x_); },
                ThrowsMessage<TraceError>(HasSubstr("moves a tensor")));
  }
  EXPECT_EQ(Scope::of(k_.scope_member()), &*scope_);
  EXPECT_EQ(scope_->size(), size);
}

// It counted as a part of none afterwards.
TEST_F(StepChangesCompositesTest, APartOfACapturedCompositeStaysItsPart) {
  const auto size = scope_->size();
  auto step = neap::compile([&](const Tensor& x) {
    const Composite own(pair_.one);
    return x * pair_.one;
  });
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<TraceError>(HasSubstr("moves a tensor")));
  EXPECT_EQ(scope_->size(), size);
  scope_->attach(pair_.one);  // goes where the pair goes, as before
  EXPECT_EQ(scope_->size(), size);
}

TEST_F(StepChangesCompositesTest, CompositesOfTheStepsOwnAreItsOwn) {
  auto step = neap::compile([&](const Tensor& x) {
    Pair own(x * 2.0, x * 3.0);
    Pair copy = own;
    own = Pair(x * 4.0, x * 5.0);
    copy.absorb(own.one);
    const Composite moved = std::move(copy);
    return own.one + own.other;
  });
  for (int call = 0; call < 3; ++call) {
    EXPECT_THAT(floats(step(x_)), Each(9.0F));
  }
}

}  // namespace
}  // namespace neap::compiler
