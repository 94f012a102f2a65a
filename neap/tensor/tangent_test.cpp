// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/tangent.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "neap/tensor/create.hpp"

namespace neap::tensor {
namespace {

// Every test runs in a domain of its own and ends with nothing live.
class TangentTest : public testing::Test {
 protected:
  ~TangentTest() override { EXPECT_EQ(domain_->stats().live, 0); }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

TEST_F(TangentTest, BelongsToOneLevel) {
  TangentLevel outer;
  TangentLevel inner;
  const Tensor x = scalar(1.0);
  EXPECT_FALSE(x.array()->has_tangents());
  outer.set(x, scalar(2.0));
  EXPECT_FALSE(inner.of(x).defined());
  inner.set(x, scalar(3.0));
  EXPECT_EQ(outer.of(x).item(), 2.0);
  EXPECT_EQ(inner.of(x).item(), 3.0);
  outer.set(x, scalar(4.0));
  EXPECT_EQ(outer.of(x).item(), 4.0);
}

TEST_F(TangentTest, GoesWithItsValue) {
  TangentLevel level;
  const Bytes before = domain_->stats().live;
  Tensor x = zeros({1000});
  level.set(x, zeros({1000}));
  x = Tensor();
  EXPECT_EQ(domain_->stats().live, before);
}

TEST_F(TangentTest, GoesWithItsLevel) {
  const Tensor x = zeros({1000});
  const Bytes before = domain_->stats().live;
  {
    TangentLevel level;
    level.set(x, zeros({1000}));
    EXPECT_TRUE(x.array()->has_tangents());
  }
  EXPECT_FALSE(x.array()->has_tangents());
  EXPECT_EQ(domain_->stats().live, before);
}

TEST_F(TangentTest, IsSharedByCopiesAndAliasesButNotByWhatIsDetached) {
  TangentLevel outer;
  TangentLevel inner;
  const Tensor x = scalar(1.0);
  outer.set(x, scalar(2.0));
  inner.set(x, scalar(3.0));
  const Tensor same = x;
  const Tensor alias = x.alias();
  EXPECT_EQ(outer.of(same).item(), 2.0);
  EXPECT_EQ(outer.of(alias).item(), 2.0);
  EXPECT_EQ(inner.of(alias).item(), 3.0);
  EXPECT_FALSE(x.detach().array()->has_tangents());
  inner.set(alias, scalar(5.0));  // of its own from now on
  EXPECT_EQ(inner.of(x).item(), 3.0);
}

TEST_F(TangentTest, CanBeTakenOffAndPutBack) {
  TangentLevel level;
  const Tensor x = scalar(1.0);
  level.set(x, scalar(2.0));
  LooseTangent loose = level.take(x);
  EXPECT_FALSE(x.array()->has_tangents());
  EXPECT_FALSE(level.take(x));
  level.put_back(x, std::move(loose));
  EXPECT_EQ(level.of(x).item(), 2.0);
}

TEST_F(TangentTest, RefusesAWriteIntoItsValue) {
  Tensor x = scalar(1.0);
  {
    TangentLevel level;
    level.set(x, scalar(2.0));
    EXPECT_THROW(x.mutable_values<float>(), GraphError);
  }
  x.mutable_values<float>()[0] = 3.0F;
  EXPECT_EQ(x.item(), 3.0);
}

TEST_F(TangentTest, ChainsOfAnyLengthGoOnAConstantStack) {
  std::optional<TangentLevel> level(std::in_place);
  Tensor x = scalar(0.0);
  for (int i = 0; i < 200'000; ++i) {
    const Tensor next = scalar(0.0);
    level->set(next, x);  // a tangent that has a tangent in turn
    x = next;
  }
  x = Tensor();
  EXPECT_EQ(domain_->stats().live_blocks, 0);
}

TEST_F(TangentTest, ValuesMayEndInOtherThreadsWhileTheLevelEnds) {
  for (int round = 0; round < 50; ++round) {
    std::optional<TangentLevel> level(std::in_place);
    std::vector<Tensor> values;
    for (int i = 0; i < 100; ++i) {
      values.push_back(scalar(1.0));
      level->set(values.back(), scalar(2.0));
    }
    std::thread dropper(
        [moved = std::move(values)]() mutable { moved.clear(); });
    level.reset();
    dropper.join();
  }
}

}  // namespace
}  // namespace neap::tensor
