// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using testing::ElementsAre;

// Every test runs in a domain of its own and ends with nothing live.
class TensorTest : public testing::Test {
 protected:
  ~TensorTest() override { EXPECT_EQ(domain_->stats().live, 0); }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

TEST_F(TensorTest, IsUndefinedUntilAssigned) {
  const Tensor t;
  EXPECT_FALSE(t.defined());
  EXPECT_THROW(t.shape(), UseAfterRelease);
}

TEST_F(TensorTest, SharesElementsAmongCopies) {
  Tensor a = zeros({2, 2});
  const Tensor b = a;
  a.mutable_values<float>()[3] = 7.0F;
  EXPECT_EQ(b.at({1, 1}), 7.0);
  EXPECT_TRUE(b.is_alias_of(a));
}

TEST_F(TensorTest, FreesItsBytesWithTheLastHandle) {
  Tensor a = zeros({1000});
  EXPECT_GE(domain_->stats().live, 4000);
  const Tensor b = a;
  a = Tensor();
  EXPECT_GE(domain_->stats().live, 4000);
}

TEST_F(TensorTest, CountsExactlyTheBytesOfItsElements) {
  const Tensor a = zeros({3, 5}, f64);
  EXPECT_EQ(a.array()->storage()->size(), 120);
}

TEST_F(TensorTest, HoldsZeroElementsAndRankZero) {
  const Tensor none = zeros({3, 0});
  EXPECT_EQ(none.element_count(), 0);
  EXPECT_TRUE(none.values<float>().empty());
  const Tensor one = scalar(2.5);
  EXPECT_EQ(one.rank(), 0);
  EXPECT_EQ(one.item(), 2.5);
}

TEST_F(TensorTest, RefusesTheWrongElementType) {
  const Tensor a = zeros({2}, f64);
  EXPECT_THROW(a.values<float>(), DTypeError);
}

TEST_F(TensorTest, RefusesItemOfMany) {
  EXPECT_THROW(zeros({2}).item(), ShapeError);
}

TEST_F(TensorTest, RefusesPositionsOutOfRange) {
  const Tensor a = zeros({2, 3});
  EXPECT_THROW(a.at({2, 0}), ShapeError);
  EXPECT_THROW(a.at({0}), ShapeError);
  EXPECT_EQ(a.at({-1, -3}), 0.0);
}

TEST_F(TensorTest, BorrowsTheUsersMemoryAndReturnsIt) {
  std::array<float, 4> mine = {1, 2, 3, 4};
  bool is_returned = false;
  {
    const Tensor t = Tensor::borrow(std::span<float>(mine), {2, 2},
                                    [&] { is_returned = true; });
    EXPECT_EQ(domain_->stats().lent, 16);
    EXPECT_EQ(t.at({1, 0}), 3.0);
    EXPECT_FALSE(is_returned);
  }
  EXPECT_TRUE(is_returned);
  EXPECT_EQ(domain_->stats().lent, 0);
}

TEST_F(TensorTest, RefusesToBorrowTooFewElements) {
  std::array<float, 3> mine = {};
  EXPECT_THROW(Tensor::borrow(std::span<float>(mine), {2, 2}), ShapeError);
}

TEST_F(TensorTest, LeavesMemoryToItsOwnerWhenBorrowingFails) {
  std::array<float, 4> mine = {};
  int returned = 0;
  const auto borrow = [&](const Shape& shape) {
    return Tensor::borrow(std::span<float>(mine), shape, [&] { ++returned; });
  };
  EXPECT_THROW(borrow({5}), ShapeError);
  EXPECT_THROW(borrow({-4}), ShapeError);
  EXPECT_EQ(returned, 0);
  std::int64_t n = 1;
  for (;; ++n) {
    domain_->fail_at(n);
    try {
      const Tensor t = borrow({4});
      domain_->fail_at(0);
      EXPECT_EQ(returned, 0);
      break;
    } catch (const OutOfMemory&) {
      EXPECT_EQ(returned, 0) << n;
      EXPECT_EQ(domain_->stats().live, 0) << n;
      EXPECT_EQ(domain_->stats().lent, 0) << n;
    }
  }
  EXPECT_GT(n, 3);
  EXPECT_EQ(returned, 1);
}

TEST_F(TensorTest, BumpsTheVersionOnEveryWrite) {
  Tensor a = zeros({2});
  const auto before = a.array()->storage()->version();
  a.mutable_values<float>();
  EXPECT_EQ(a.array()->storage()->version(), before + 1);
}

TEST_F(TensorTest, ConvertsNumbersToEveryDType) {
  EXPECT_EQ(from_values({0, 2}, {2}, boolean).at({1}), 1.0);
  EXPECT_EQ(from_values({1.0}, {1}, bf16).item(), 1.0);
  EXPECT_EQ(from_values({-3}, {1}, i32).item(), -3.0);
  EXPECT_EQ(from_values({200}, {1}, u8).item(), 200.0);
}

TEST_F(TensorTest, RefusesNumbersBeyondThoseOfAnInteger) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(from_values({-0.9, 255.9, 7.9}, {3}, u8).to_vector(),
              ElementsAre(0, 255, 7));
  EXPECT_THAT(from_values({-0x1p31, 0x1p31 - 0.5}, {2}, i32).to_vector(),
              ElementsAre(-0x1p31, 0x1p31 - 1));
  EXPECT_EQ(full({1}, -0x1p63, i64).values<std::int64_t>()[0],
            std::numeric_limits<std::int64_t>::min());
  for (const double beyond : {-1.0, 256.0, nan, 1e30}) {
    EXPECT_THROW(from_values({1.0, beyond}, {2}, u8), ValueError) << beyond;
  }
  EXPECT_THROW(scalar(0x1p31, i32), ValueError);
  EXPECT_THROW(scalar(0x1p63, i64), ValueError);
  EXPECT_THROW(arange(300, u8), ValueError);
}

TEST_F(TensorTest, DrawsIntegersOfTheWholeRangeAndNoOther) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  int negative = 0;
  const Tensor wide = randint(kLow, kHigh, {1000});
  for (const std::int64_t x : wide.values<std::int64_t>()) {
    negative += x < 0 ? 1 : 0;
  }
  EXPECT_NEAR(negative, 500, 100);
  const Tensor top = randint(kHigh - 2, kHigh, {100});
  for (const std::int64_t x : top.values<std::int64_t>()) {
    EXPECT_GE(x, kHigh - 2);
    EXPECT_LT(x, kHigh);
  }
  constexpr std::int64_t kEnd = std::int64_t{1} << 31;
  EXPECT_NO_THROW(randint(-kEnd, kEnd, {1}, i32));
  EXPECT_THROW(randint(-kEnd, kEnd + 1, {1}, i32), ValueError);
  EXPECT_THROW(randint(-kEnd - 1, kEnd, {1}, i32), ValueError);
}

TEST_F(TensorTest, CountsTheVectorOfItsElements) {
  const Tensor a = zeros({1000});
  const Bytes before = domain_->stats().live;
  const auto values = a.to_vector();
  EXPECT_GE(domain_->stats().live, before + 8000);
}

TEST_F(TensorTest, HoldsNothingOfAnEmptyShapeHoweverLarge) {
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const Shape& shape :
       {Shape{huge, huge, 0}, Shape{0, huge, huge}, Shape{huge, 0, huge}}) {
    const Tensor none = empty(shape);
    EXPECT_EQ(none.element_count(), 0);
    EXPECT_TRUE(none.is_contiguous());
    EXPECT_TRUE(none.to_vector().empty());
  }
}

TEST_F(TensorTest, KeepsLargeIntegersExactly) {
  const std::array<std::int64_t, 1> big = {
      std::numeric_limits<std::int64_t>::max()};
  const Tensor t = from_span(std::span<const std::int64_t>(big), {1});
  EXPECT_EQ(t.values<std::int64_t>()[0], big[0]);
}

TEST_F(TensorTest, RefusesSizesBeyond64Bits) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_THROW(empty({huge, huge}), ShapeError);
  EXPECT_THROW(empty({-1}), ShapeError);
}

TEST_F(TensorTest, LeavesNothingBehindWhenMemoryRunsOut) {
  const Tensor warm = zeros({1});
  const auto before = domain_->stats().live;
  for (std::int64_t n = 1; n < 20; ++n) {
    domain_->fail_at(n);
    try {
      const Tensor t = zeros({100});
      domain_->fail_at(0);
      return;
    } catch (const OutOfMemory&) {
      EXPECT_EQ(domain_->stats().live, before);
    }
  }
  FAIL() << "creation never succeeded";
}

TEST_F(TensorTest, DrawsTheSameNumbersForTheSameSeed) {
  Generator one(7);
  Generator two(7);
  Tensor a;
  Tensor b;
  {
    const UseGenerator use(one);
    a = randn({100});
  }
  {
    const UseGenerator use(two);
    b = randn({100});
  }
  EXPECT_EQ(a.to_vector(), b.to_vector());
  EXPECT_EQ(one.state().draw, 1U);
}

TEST_F(TensorTest, DrawsNothingWhenMemoryRunsOut) {
  Generator source(7);
  const UseGenerator use(source);
  domain_->fail_at(1);
  EXPECT_THROW(rand({10}), OutOfMemory);
  EXPECT_EQ(source.state().draw, 0U);
}

TEST_F(TensorTest, DrawsNormalNumbersOfUnitVariance) {
  Generator source(3);
  const UseGenerator use(source);
  double sum = 0.0;
  double squares = 0.0;
  for (const double x : randn({100000}, f64).to_vector()) {
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 1e5, 0.0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1.0, 0.02);
}

}  // namespace
}  // namespace neap
