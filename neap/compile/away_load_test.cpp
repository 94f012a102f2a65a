// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A model and a state that do not fit memory are loaded, and a run with them is
// resumed, where they are: in the file of a step.
#include <gtest/gtest.h>

#include <algorithm>

#include "neap/compile/away_for_test.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/save.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::compiler {
namespace {

// Less than the weights, with the thread of the file.
constexpr Bytes kRoom = 1000 * kKiB;
// For a load: a copy of one tensor of 144 KiB, and books.
constexpr Bytes kLoading = 480 * kKiB;
static_assert(kLoading < AwayNet::kWeights / 2);

class AwayLoadTest : public AwayTest {
 protected:
  // A run of two steps, saved; the hash after one step more.
  AwayLoadTest() : spill_(spill()) {
    auto whole = plain_.compiled({});
    plain_.run(whole);
    plain_.run(whole);
    const AwayNet::Here here(plain_);
    AwayModel model(plain_);
    EXPECT_TRUE(train::Checkpoint({model, *plain_.adam, plain_.generator})
                    .save(path())
                    .has_value());
    saved_ = hash(plain_);
    plain_.run(whole);
    next_ = hash(plain_);
  }

  std::string path() const { return folder.path() + "/run"; }
  static std::uint64_t hash(AwayNet& net) {
    const AwayNet::Here here(net);
    return train::state_hash(AwayModel(net), *net.adam, net.generator);
  }
  // In so much memory beside what is in use. Whether it was loaded.
  bool load(AwayNet& net, Bytes room, const SpillOptions& state = {}) const {
    const AwayNet::Here here(net);
    AwayModel model(net);
    train::Checkpoint checkpoint{.model = model,
                                 .optimizer = *net.adam,
                                 .generator = net.generator,
                                 .spill = state};
    net.domain->trim();
    const Bytes budget = room == kUnlimited ? room : net.in_use() + room;
    const Budget limit(budget);
    net.domain->reset_peak();
    const bool is_loaded = checkpoint.load(path()).has_value();
    const memory::Stats stats = net.domain->stats();
    EXPECT_LE(stats.peak + stats.external, budget);
    return is_loaded;
  }
  void expect_all_away(const AwayNet& net) const {
    EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
    EXPECT_EQ(net.away(), AwayNet::kMoments);
  }
  // One step more in a budget with everything away.
  void expect_to_go_on(AwayNet& net) {
    net.domain->trim();
    const Bytes budget = net.in_use() + 1400 * kKiB;
    auto step = net.compiled({.budget = budget, .spill = spill_});
    net.run(step);
    EXPECT_LE(net.in_use(), budget);
    expect_all_away(net);
    EXPECT_EQ(hash(net), next_);
  }

  SpillOptions spill_;
  AwayNet plain_;
  std::uint64_t saved_ = 0;
  std::uint64_t next_ = 0;
};

TEST_F(AwayLoadTest, AModelThatIsBornAwayIsResumedInLessThanItsCopy) {
  AwayNet net(false, &spill_, kRoom);
  ASSERT_TRUE(load(net, kLoading));
  expect_all_away(net);
  EXPECT_EQ(hash(net), saved_);
  expect_all_away(net);
  expect_to_go_on(net);
}

TEST_F(AwayLoadTest, ARunThatHasStateIsResumedWhereItIs) {
  AwayNet net(false, &spill_, kRoom);
  net.domain->trim();
  auto step =
      net.compiled({.budget = net.in_use() + 1400 * kKiB, .spill = spill_});
  for (int i = 0; i < 3; ++i) {
    net.run(step);
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(load(net, kLoading));
    expect_all_away(net);
    EXPECT_EQ(hash(net), saved_);
    net.run(step);
    EXPECT_EQ(hash(net), next_);
    expect_all_away(net);
  }
}

TEST_F(AwayLoadTest, AStepMayBePreparedBefore) {
  AwayNet net(false, &spill_, kRoom);
  net.domain->trim();
  auto step =
      net.compiled({.budget = net.in_use() + 1400 * kKiB, .spill = spill_});
  {
    const AwayNet::Here here(net);
    step.prepare({tensor::Spec{f32, {16, AwayNet::kWidth}}});
  }
  ASSERT_TRUE(load(net, kLoading));
  expect_all_away(net);
  net.run(step);
  EXPECT_EQ(hash(net), next_);
}

TEST_F(AwayLoadTest, StateOfWeightsInMemoryGoesToTheFolder) {
  AwayNet net;
  ASSERT_TRUE(load(net, AwayNet::kWeights + 700 * kKiB, spill_));
  EXPECT_EQ(net.away(), AwayNet::kMoments);
  EXPECT_EQ(net.weights_away(), 0);
  EXPECT_EQ(hash(net), saved_);
  auto step = net.compiled(within(net, kTight));
  net.run(step);
  EXPECT_EQ(net.away(), AwayNet::kMoments);
  EXPECT_EQ(hash(net), next_);
}

TEST_F(AwayLoadTest, StateStaysInMemoryWhereTheOptionsSaySo) {
  for (const bool is_small : {false, true}) {
    SpillOptions spill = spill_;
    spill.states = is_small;
    spill.least = is_small ? kMiB : 0;
    AwayNet net;
    ASSERT_TRUE(load(net, kUnlimited, spill));
    EXPECT_EQ(net.away(), 0);
    EXPECT_EQ(hash(net), saved_);
  }
}

// The state is that of before the first step, zeros, which take no memory.
TEST_F(AwayLoadTest, StateThatTheFileHasNotIsNoneAfterwards) {
  AwayNet first;
  {
    const AwayNet::Here here(first);
    AwayModel model(first);
    ASSERT_TRUE(train::Checkpoint({model, *first.adam, first.generator})
                    .save(path())
                    .has_value());
  }
  AwayNet net(false, &spill_, kRoom);
  net.domain->trim();
  auto step =
      net.compiled({.budget = net.in_use() + 1400 * kKiB, .spill = spill_});
  net.run(step);
  ASSERT_TRUE(load(net, kLoading));
  EXPECT_EQ(hash(net), hash(first));
  auto whole = first.compiled({});
  EXPECT_EQ(net.run(step), first.run(whole));
  EXPECT_EQ(hash(net), hash(first));
}

TEST_F(AwayLoadTest, AModelIsLoadedByItself) {
  AwayNet net(false, &spill_, kRoom);
  {
    const AwayNet::Here here(net);
    AwayModel model(net);
    net.domain->trim();
    const Budget limit(net.in_use() + kLoading);
    ASSERT_TRUE(neap::load(model, path()).has_value());
  }
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  AwayNet other;
  ASSERT_TRUE(load(other, kUnlimited));
  EXPECT_EQ(net.values(), other.values());
}

// Copies of weights and state do not fit beside them.
TEST_F(AwayLoadTest, WhatIsInMemoryIsWrittenInPlaceWhereCopiesDoNotFit) {
  AwayNet net;
  auto step = net.compiled({});
  net.run(step);
  const std::byte* const at = net.weights[0].array()->storage()->data();
  ASSERT_TRUE(load(net, 300 * kKiB));
  EXPECT_EQ(hash(net), saved_);
  EXPECT_EQ(net.weights[0].array()->storage()->data(), at);
  net.run(step);
  EXPECT_EQ(hash(net), next_);
}

TEST_F(AwayLoadTest, ARehearsalHoldsAsMuch) {
  AwayNet net(false, &spill_, kRoom);
  AwayNet dry(true, &spill_, kRoom);
  for (AwayNet* each : {&net, &dry}) {
    ASSERT_TRUE(load(*each, kLoading));
    expect_all_away(*each);
  }
  EXPECT_EQ(dry.domain->stats().live, net.domain->stats().live);
  EXPECT_EQ(dry.domain->stats().live_peak, net.domain->stats().live_peak);
}

TEST_F(AwayLoadTest, ASaveIsRehearsedWithWeightsThatAreAway) {
  AwayNet net(false, &spill_, kRoom);
  const AwayNet::Here here(net);
  AwayModel model(net);
  const train::Checkpoint checkpoint{model, *net.adam, net.generator};
  net.domain->trim();
  net.domain->reset_peak();
  ASSERT_TRUE(checkpoint.save(path()).has_value());
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  const Bytes saved = net.domain->stats().live_peak;
  net.domain->reset_peak();
  checkpoint.rehearse_save();
  EXPECT_GE(net.domain->stats().live_peak, saved);
}

}  // namespace
}  // namespace neap::compiler
