// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training in eight shards has one hash, whoever has which of them.
#include "neap/dist/shard_sum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/dist/fake_engine_for_test.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::dist {
namespace {

constexpr int kShards = 8;
constexpr std::int64_t kBatch = 32;
constexpr std::int64_t kRows = kBatch / kShards;

// Weights after some steps of a small network on the same data.
std::vector<float> trained(const Group& group) {
  Generator generator{3};
  const UseGenerator use(generator);
  const Tensor x = randn({kBatch, 16});
  const std::vector<Tensor> weights{requires_grad_(randn({16, 24})),
                                    requires_grad_(randn({24, 3}))};
  for (int step = 0; step < 3; ++step) {
    ShardSum sum(group, kShards);
    for (int s = sum.first(); s < sum.first() + sum.count(); ++s) {
      const Tensor rows = slice(x, 0, s * kRows, (s + 1) * kRows);
      const Tensor y = matmul(tanh(matmul(rows, weights[0])), weights[1]);
      const std::array loss{mean(square(y)) * (1.0 / kShards)};
      sum.add(grad(loss, weights));
    }
    const NoGrad no_grad;
    const auto gradients = sum.take();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      copy_(weights[i], weights[i] - gradients[i] * 0.1);
    }
  }
  std::vector<float> out;
  for (const Tensor& w : weights) {
    for (const double value : w.to_vector()) {
      out.push_back(static_cast<float>(value));
    }
  }
  return out;
}

TEST(ShardSumTest, TheSameBitsForAnyNumberOfRanks) {
  const std::vector<float> alone = trained(Group());
  for (const int ranks : {2, 4, 8}) {
    FakeWorld world(ranks, {.seed = 5});
    world.run([&](Engine& engine) {
      const Group group(std::shared_ptr<Engine>(&engine, [](Engine*) {}));
      EXPECT_EQ(trained(group), alone) << ranks;
    });
  }
}

TEST(ShardSumTest, MisuseIsRefused) {
  const Group alone;
  EXPECT_THROW(ShardSum(alone, 0), ValueError);
  EXPECT_THROW(ShardSum(alone, 3), ValueError);
  ShardSum sum(alone, 2);
  const std::vector<Tensor> one{ones({3})};
  sum.add(one);
  EXPECT_THROW(sum.take(), ValueError);  // a shard is missing
  EXPECT_THROW(sum.add(std::vector<Tensor>{}), ValueError);
  EXPECT_THROW(sum.add(std::vector<Tensor>{ones({4})}), ShapeError);
  EXPECT_THROW(sum.add(std::vector<Tensor>{Tensor()}), ValueError);
  sum.add(one);
  EXPECT_THROW(sum.add(one), ValueError);  // one too many
  EXPECT_EQ(sum.take()[0].at({2}), 2.0);
}

// It has copies: whatever becomes of the tensors, and whoever else has them.
TEST(ShardSumTest, TensorsStayTheCallers) {
  FakeWorld world(2, {});
  world.run([](Engine& engine) {
    const Group group(std::shared_ptr<Engine>(&engine, [](Engine*) {}));
    ShardSum sum(group, 2);
    const Tensor x = ones({3});
    sum.add(std::vector<Tensor>{x, x});
    fill_(x, 7.0);
    const auto sums = sum.take();
    EXPECT_EQ(sums[0].at({1}), 2.0);
    EXPECT_EQ(sums[1].at({1}), 2.0);
    EXPECT_EQ(x.at({1}), 7.0);
  });
}

TEST(ShardSumTest, RanksWithOtherShardsAreAMismatch) {
  FakeWorld world(2, {});
  world.run([](Engine& engine) {
    const Group group(std::shared_ptr<Engine>(&engine, [](Engine*) {}));
    ShardSum sum(group, group.rank() == 0 ? 2 : 4);
    for (int i = 0; i < sum.count(); ++i) {
      sum.add(std::vector<Tensor>{ones({3})});
    }
    EXPECT_THROW(sum.take(), RankMismatch);
  });
}

TEST(ShardSumTest, MoreRanksThanShardsAreRefused) {
  FakeWorld world(4, {});
  world.run([](Engine& engine) {
    const Group group(std::shared_ptr<Engine>(&engine, [](Engine*) {}));
    EXPECT_THROW(ShardSum(group, 2), ValueError);
  });
}

}  // namespace
}  // namespace neap::dist
