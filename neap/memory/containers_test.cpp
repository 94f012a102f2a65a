// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/containers.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace neap::memory {
namespace {

class ContainersTest : public testing::Test {
 protected:
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

TEST_F(ContainersTest, VectorsCountInTheDomainTheyWereCreatedWith) {
  Vector<int> numbers;
  const auto other = Domain::create();
  const UseDomain elsewhere(*other);
  numbers.resize(1000);
  EXPECT_EQ(domain_->stats().live, 4000);
  EXPECT_EQ(other->stats().live, 0);
  numbers.clear();
  numbers.shrink_to_fit();
  EXPECT_EQ(domain_->stats().live, 0);
}

TEST_F(ContainersTest, StringsCountBeyondTheirInlinePart) {
  String text("a text that is longer than fits in place, by some bytes");
  EXPECT_GT(domain_->stats().live, 40);
  std::array<Row, 4> rows;
  ASSERT_EQ(domain_->live_rows(rows), 1);
  EXPECT_EQ(rows[0].tag.category, Category::kGraph);
}

TEST_F(ContainersTest, CarriesTheOwnerOfTheContext) {
  const OwnerId owner = domain_->owner("fc1");
  const ContextGuard guard([&](Context& c) { c.owner = owner; });
  const Vector<int> numbers(3, 0, Allocator<int>(Category::kData));
  std::array<Row, 4> rows;
  ASSERT_EQ(domain_->live_rows(rows), 1);
  EXPECT_EQ(rows[0].tag.owner, owner);
  EXPECT_EQ(rows[0].tag.category, Category::kData);
}

TEST_F(ContainersTest, AVectorThatCannotGrowIsAsBefore) {
  Vector<int> numbers(4, 7);
  domain_->fail_at(1);
  EXPECT_THROW(numbers.resize(100), OutOfMemory);
  EXPECT_EQ(numbers, Vector<int>(4, 7));
}

TEST_F(ContainersTest, MovingAVectorMovesItsBytes) {
  Vector<int> a(100);
  Vector<int> b = std::move(a);
  EXPECT_EQ(domain_->stats().live, 400);
  EXPECT_EQ(domain_->stats().live_blocks, 1);
}

struct Base {
  virtual ~Base() = default;
  int value = 1;
};
struct Other {
  virtual ~Other() = default;
  int value = 2;
};
struct Derived : Other, Base {
  explicit Derived(bool fails = false) {
    if (fails) {
      throw std::runtime_error("no");
    }
  }
};

TEST_F(ContainersTest, OwnedObjectsConvertToABaseThatIsNotFirst) {
  Owned<Base> base = make_owned<Derived>(Category::kOther);
  EXPECT_EQ(base->value, 1);
  EXPECT_EQ(domain_->stats().live, static_cast<Bytes>(sizeof(Derived)));
  base.reset();
  EXPECT_EQ(domain_->stats().live, 0);
}

TEST_F(ContainersTest, AConstructorThatThrowsLeavesNothingBehind) {
  EXPECT_THROW(make_owned<Derived>(Category::kOther, true), std::runtime_error);
  EXPECT_EQ(domain_->stats().live_blocks, 0);
}

}  // namespace
}  // namespace neap::memory
