// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A model whose weights are larger than its budget is made in it, and trains.
#include <gtest/gtest.h>

#include "neap/base/error.hpp"
#include "neap/compile/away_for_test.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/nn/module.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::compiler {
namespace {

// Less than the weights, with the thread of the file.
constexpr Bytes kRoom = 1000 * kKiB;
static_assert(kRoom < AwayNet::kWeights);

class BornAwayTest : public AwayTest {
 protected:
  BornAwayTest() : spill_(spill()) {}
  SpillOptions spill_;
};

TEST_F(BornAwayTest, AModelIsMadeInLessThanItsWeights) {
  const AwayNet plain;
  AwayNet net(false, &spill_, kRoom);
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  EXPECT_LT(net.domain->stats().peak, AwayNet::kWeights * 3 / 4);
  EXPECT_EQ(net.values(), plain.values());
  EXPECT_EQ(net.weights_away(), 0);
}

TEST_F(BornAwayTest, ARehearsalHoldsAsMuch) {
  const AwayNet net(false, &spill_, kRoom);
  const AwayNet dry(true, &spill_, kRoom);
  EXPECT_EQ(dry.weights_away(), AwayNet::kLayers);
  EXPECT_EQ(dry.domain->stats().live, net.domain->stats().live);
  EXPECT_EQ(dry.domain->stats().live_peak, net.domain->stats().live_peak);
}

TEST_F(BornAwayTest, ItTrainsInLessThanItsWeights) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net(false, &spill_, kRoom);
  net.domain->trim();
  // The largest update takes 0.7 MiB of this.
  const Bytes budget = net.in_use() + 1400 * kKiB;
  auto step = net.compiled({.budget = budget, .spill = spill_});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(net.run(step), plain.run(whole));
    EXPECT_LE(net.in_use(), budget);
    EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  }
  const memory::Stats stats = net.domain->stats();
  EXPECT_LT(stats.peak, (AwayNet::kWeights + AwayNet::kState) / 2);
  expect_same(net, plain);
}

TEST_F(BornAwayTest, AStepInAnotherFolderTakesThemThere) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net(false, &spill_, kRoom);
  const files::TemporaryFolder other;
  SpillOptions there = spill_;
  there.folder = other.path();
  auto step =
      net.compiled({.budget = net.in_use() + 1500 * kKiB, .spill = there});
  EXPECT_EQ(net.run(step), plain.run(whole));
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  expect_same(net, plain);
}

TEST_F(BornAwayTest, AStepWithoutABudgetBringsThemHome) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net(false, &spill_, kRoom);
  auto step = net.compiled({});
  EXPECT_EQ(net.run(step), plain.run(whole));
  EXPECT_EQ(net.weights_away(), 0);
  expect_same(net, plain);
}

TEST_F(BornAwayTest, SmallWeightsAndOtherThreadsStay) {
  spill_.least = AwayNet::kWidth * AwayNet::kWidth * 4 + 1;
  const AwayNet net(false, &spill_);
  EXPECT_EQ(net.weights_away(), 0);
}

TEST_F(BornAwayTest, AParameterOfAModuleGoesWhenTheNextComes) {
  struct Part : nn::Module {
    Part()
        : w(register_parameter("w", ones({64, 512}))),
          v(register_parameter("v", ones({64, 512}))) {}
    Tensor w;
    Tensor v;
  };
  std::optional<BornAway> away(std::in_place, spill_);
  const Part part;
  EXPECT_TRUE(part.w.array()->storage()->is_away());
  EXPECT_FALSE(part.v.array()->storage()->is_away());
  away.reset();
  EXPECT_TRUE(part.v.array()->storage()->is_away());
  const Part later;
  EXPECT_FALSE(later.w.array()->storage()->is_away());
  EXPECT_EQ(part.v.at({3, 4}), 1.0);
}

TEST_F(BornAwayTest, WithoutAFolderItIsRefused) {
  EXPECT_THROW(BornAway(SpillOptions{}), ValueError);
}

TEST_F(BornAwayTest, ADiskThatFailsIsATypedError) {
  int failures = 0;
  for (std::int64_t n = 1; n <= 20; ++n) {
    files::FaultDoor door(files::system_door(), {.stop_at = n});
    spill_.door = &door;
    try {
      const AwayNet net(false, &spill_);
    } catch (const IoError&) {
      ++failures;
    }
  }
  EXPECT_GT(failures, 5);
}

}  // namespace
}  // namespace neap::compiler
