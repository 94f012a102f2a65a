// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/ref.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "neap/base/any_ref.hpp"

namespace neap::base {
namespace {

// Counts; "destroyed" is told, not done, so that tests can look afterwards.
struct Counted {
  int references = 1;
  bool destroyed = false;
  void acquire() noexcept { ++references; }
  void release() noexcept { destroyed = --references == 0; }
};

TEST(RefTest, AdoptsAReferenceWithoutTakingAnother) {
  Counted object;
  {
    const auto ref = Ref<Counted>::adopt(&object);
    EXPECT_EQ(object.references, 1);
    EXPECT_EQ(ref.get(), &object);
  }
  EXPECT_TRUE(object.destroyed);
}

TEST(RefTest, SharesWithAReferenceOfItsOwn) {
  Counted object;
  {
    const auto ref = Ref<Counted>::share(&object);
    EXPECT_EQ(object.references, 2);
  }
  EXPECT_EQ(object.references, 1);
  EXPECT_FALSE(object.destroyed);
}

TEST(RefTest, CopiesTakeAReferenceAndMovesDoNot) {
  Counted object;
  auto first = Ref<Counted>::adopt(&object);
  auto second = first;
  EXPECT_EQ(object.references, 2);
  const auto third = std::move(first);
  EXPECT_EQ(object.references, 2);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): moved-from is null
  EXPECT_EQ(second, third);
}

TEST(RefTest, AssignmentReleasesWhatWasHeld) {
  Counted one;
  Counted two;
  auto ref = Ref<Counted>::adopt(&one);
  ref = Ref<Counted>::adopt(&two);
  EXPECT_TRUE(one.destroyed);
  EXPECT_EQ(two.references, 1);
  ref = nullptr;
  EXPECT_TRUE(two.destroyed);
}

TEST(RefTest, AssigningToItselfKeepsTheObject) {
  Counted object;
  auto ref = Ref<Counted>::adopt(&object);
  auto& same = ref;
  ref = same;
  EXPECT_EQ(object.references, 1);
  EXPECT_FALSE(object.destroyed);
}

TEST(RefTest, LeakPassesTheReferenceToTheCaller) {
  Counted object;
  {
    auto ref = Ref<Counted>::adopt(&object);
    EXPECT_EQ(ref.leak(), &object);
    EXPECT_FALSE(ref);
  }
  EXPECT_EQ(object.references, 1);
}

TEST(RefTest, AReferenceOfAnyTypeKeepsAndReleases) {
  Counted object;
  {
    AnyRef any(Ref<Counted>::share(&object));
    EXPECT_EQ(object.references, 2);
    AnyRef moved = std::move(any);
    any = AnyRef();
    EXPECT_EQ(object.references, 2);
    const AnyRef copy = moved;
    EXPECT_EQ(object.references, 3);
    const AnyRef none = any;  // empty, too
  }
  EXPECT_EQ(object.references, 1);
}

TEST(RefTest, NullIsEmptyInEveryWay) {
  const Ref<Counted> none;
  const Ref<Counted> copy = none;
  EXPECT_FALSE(copy);
  EXPECT_FALSE(Ref<Counted>::share(nullptr));
  EXPECT_EQ(copy, Ref<Counted>(nullptr));
  static_assert(std::is_nothrow_move_constructible_v<Ref<Counted>>);
}

}  // namespace
}  // namespace neap::base
