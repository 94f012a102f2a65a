// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/shadow_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/transfer.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/tensor/create.hpp"

namespace neap::testing {
namespace {

class ShadowSpaceTest : public ::testing::Test {
 protected:
  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  ShadowSpace shadow_{*domain_};
  Tensor x_ = from_values({1, 2, 3, 4, 5, 6}, {2, 3});
};

TEST_F(ShadowSpaceTest, CarriesElementsThereAndBackExactly) {
  const Tensor there = shadow_.from_host(x_);
  EXPECT_EQ(there.space(), kShadow);
  EXPECT_EQ(shadow_.to_host(there).to_vector(), x_.to_vector());
}

TEST_F(ShadowSpaceTest, KeepsTheStridesOfAView) {
  const Tensor column(tensor::Array::make(
      x_.array()->storage(), tensor::sliced(x_.array()->layout(), 1, 1, 2, 1)));
  const Tensor there = shadow_.from_host(column);
  EXPECT_EQ(there.strides(), column.strides());
  EXPECT_THAT(shadow_.to_host(there).to_vector(), ::testing::ElementsAre(2, 5));
}

TEST_F(ShadowSpaceTest, IsReachedByTheTransferOp) {
  const Tensor there = to(x_, kShadow);
  EXPECT_EQ(there.space(), kShadow);
  EXPECT_EQ(to(there, memory::kHost).to_vector(), x_.to_vector());
}

TEST_F(ShadowSpaceTest, RunsOpsThere) {
  const Tensor there = shadow_.from_host(x_);
  const Tensor sum = add(there, mul(there, 2.0));
  EXPECT_EQ(sum.space(), kShadow);
  EXPECT_GE(shadow_.launches(), 2);
  EXPECT_THAT(shadow_.to_host(sum).to_vector(),
              ::testing::ElementsAre(3, 6, 9, 12, 15, 18));
}

TEST_F(ShadowSpaceTest, HasScratchOfItsOwnForKernels) {
  const Tensor a = rand({65, 70});
  const Tensor b = rand({70, 67});
  const Tensor there = matmul(shadow_.from_host(a), shadow_.from_host(b));
  EXPECT_EQ(shadow_.foreign_views(), 0);
  EXPECT_EQ(shadow_.to_host(there).to_vector(), matmul(a, b).to_vector());
}

TEST_F(ShadowSpaceTest, CarriesGradients) {
  const Tensor there = requires_grad_(shadow_.from_host(x_));
  const Tensor square = mul(there, there);
  backward(square, {.cotangent = shadow_.from_host(ones({2, 3}))});
  EXPECT_EQ(there.grad().space(), kShadow);
  EXPECT_THAT(shadow_.to_host(there.grad()).to_vector(),
              ::testing::ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_F(ShadowSpaceTest, RefusesAccessFromTheHost) {
  Tensor there = shadow_.from_host(x_);
  EXPECT_THROW(there.values<float>(), DeviceError);
  EXPECT_THROW(there.mutable_values<float>(), DeviceError);
  EXPECT_THROW(there.at({0, 0}), DeviceError);
  EXPECT_THROW(there.to_vector(), DeviceError);
  EXPECT_THROW(shadow_.from_host(scalar(1)).item(), DeviceError);
}

TEST_F(ShadowSpaceTest, RefusesOperandsOfTwoSpaces) {
  const Tensor there = shadow_.from_host(x_);
  const memory::Stats before = domain_->stats();
  EXPECT_THROW(add(there, x_), DeviceError);
  EXPECT_THROW(add(x_, there), DeviceError);
  EXPECT_EQ(domain_->stats().live, before.live);
}

TEST_F(ShadowSpaceTest, HandsOutAddressesThatFaultOnTheHost) {
  const Tensor there = shadow_.from_host(x_);
  const volatile float* element = there.array()->strided().as<float>();
  EXPECT_DEATH({ static_cast<void>(*element); }, "");
}

// Touches what it is given, wherever that lies.
void touching_kernel(const kernels::Args& args) noexcept {
  args.out[0].as<float>()[0] = args.in[0].as<float>()[0];
}

TEST_F(ShadowSpaceTest, FaultsAHostKernelThatIsGivenItsMemory) {
  const Tensor there = shadow_.from_host(x_);
  const kernels::Kernel kernel{"touch", f32, touching_kernel};
  const std::array in{there.array()->strided()};
  const std::array out{x_.array()->strided()};
  kernels::Args args;
  args.in = in;
  args.out = out;
  EXPECT_DEATH(kernels::runtime(memory::kHost).launch(kernel, args), "");
}

TEST_F(ShadowSpaceTest, CountsHostMemoryGivenToItsKernelsAndDoesNotRunThem) {
  const Tensor there = shadow_.from_host(x_);
  const kernels::Kernel kernel{"touch", f32, touching_kernel};
  const std::array in{x_.array()->strided()};
  const std::array out{there.array()->strided()};
  kernels::Args args;
  args.in = in;
  args.out = out;
  kernels::runtime(kShadow).launch(kernel, args);
  EXPECT_EQ(shadow_.foreign_views(), 1);
  EXPECT_EQ(shadow_.launches(), 0);
}

TEST_F(ShadowSpaceTest, CountsItsBytesInTheDomain) {
  const Bytes before = domain_->stats().live;
  const Tensor there = shadow_.from_host(x_);
  EXPECT_GE(domain_->stats().live, before + 24);
  std::array<memory::Row, 64> rows;
  Bytes in_space = 0;
  const int count = domain_->live_rows(rows);
  for (int i = 0; i < count; ++i) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    in_space += row.tag.space == kShadow ? row.bytes : 0;
  }
  EXPECT_EQ(in_space, 24);
}

TEST(ShadowSpaceLifeTest, GoesAndMayComeAgain) {
  const memory::Domain::Handle domain = memory::Domain::create();
  { const ShadowSpace shadow(*domain); }
  EXPECT_FALSE(domain->has_space(kShadow));
  EXPECT_THROW(kernels::runtime(kShadow), DeviceError);
  const ShadowSpace again(*domain);
  EXPECT_TRUE(domain->has_space(kShadow));
}

TEST(ShadowSpaceLifeTest, LeavesNothingBehindWhenTheSpaceIsTaken) {
  const memory::Domain::Handle one = memory::Domain::create();
  const memory::Domain::Handle two = memory::Domain::create();
  const ShadowSpace shadow(*one);
  EXPECT_THROW(ShadowSpace{*two}, ValueError);
  EXPECT_FALSE(two->has_space(kShadow));
}

}  // namespace
}  // namespace neap::testing
