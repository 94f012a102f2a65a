// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/tensor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "neap/tensor/create.hpp"

namespace neap {
namespace {

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

TEST_F(TensorTest, GivesItsBytesBackWithTheLastHandle) {
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

TEST_F(TensorTest, BorrowsTheUsersMemoryAndGivesItBack) {
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
