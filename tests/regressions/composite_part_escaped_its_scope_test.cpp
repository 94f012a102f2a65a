// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A composite that went before its scope ended let its parts out of the scope:
// whoever held a handle to one kept it for good.
#include <gtest/gtest.h>

#include "neap/memory/composite.hpp"
#include "neap/memory/scope_stats.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

TEST(CompositeScopeTest, APartOfACompositeThatHasGoneEndsWithTheScope) {
  memory::reset_scope_stats();
  Tensor part;
  {
    const Scope scope;
    {
      part = ones({4});
      const Composite both(part, zeros({2}));
      EXPECT_EQ(scope.size(), 1);
    }
    EXPECT_EQ(scope.size(), 1);
    EXPECT_TRUE(part.defined());
  }
  EXPECT_FALSE(part.defined());
  EXPECT_EQ(memory::scope_stats().growth(), 0);
}

TEST(CompositeScopeTest, APartOfAKeptCompositeMovesOutwards) {
  Tensor part;
  {
    const Scope outer;
    {
      Scope inner;
      part = ones({4});
      const Composite one(part);
      inner.keep(one);
    }
    EXPECT_TRUE(part.defined());
    EXPECT_EQ(outer.size(), 1);
  }
  EXPECT_FALSE(part.defined());
}

TEST(CompositeScopeTest, APartThatIsNamedTwiceIsOneCompositesOwn) {
  Tensor part;
  {
    const Scope scope;
    part = ones({4});
    { const Composite twice(part, part); }
    EXPECT_EQ(scope.size(), 1);
  }
  EXPECT_FALSE(part.defined());
}

TEST(CompositeScopeTest, APartOfALivingCompositeStaysWithIt) {
  const Tensor part = ones({4});
  const Composite outside(part);
  {
    const Scope scope;
    { const Composite inside(part); }
  }
  EXPECT_TRUE(part.defined());
}

TEST(CompositeScopeTest, OutsideOfScopesPartsAreOfNone) {
  Tensor part = ones({4});
  { const Composite one(part); }
  EXPECT_TRUE(part.defined());
}

}  // namespace
}  // namespace neap
