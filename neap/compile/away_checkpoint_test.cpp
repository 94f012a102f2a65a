// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A checkpoint knows nothing of where an optimizer's state is.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "neap/compile/away_for_test.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::compiler {
namespace {

class AwayCheckpointTest : public AwayTest {
 protected:
  std::string path(const char* name) const {
    return folder.path() + "/" + name;
  }

  static void save(AwayNet& net, const std::string& to) {
    const AwayNet::Here here(net);
    AwayModel model(net);
    const train::Checkpoint checkpoint{model, *net.adam, net.generator};
    ASSERT_TRUE(checkpoint.save(to).has_value());
  }
  static void load(AwayNet& net, const std::string& from) {
    const AwayNet::Here here(net);
    AwayModel model(net);
    train::Checkpoint checkpoint{model, *net.adam, net.generator};
    ASSERT_TRUE(checkpoint.load(from).has_value());
  }
  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(AwayCheckpointTest, HasTheSameBytesAndLeavesStateAway) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  for (int i = 0; i < 2; ++i) {
    plain.run(whole);
    net.run(step);
  }
  save(plain, path("plain"));
  net.domain->reset_peak();
  const Bytes before = net.in_use();
  save(net, path("away"));
  const memory::Stats stats = net.domain->stats();
  EXPECT_LT(stats.peak + stats.external - before, AwayNet::kState / 4);
  EXPECT_EQ(net.away(), AwayNet::kMoments);
  EXPECT_FALSE(bytes_of(path("plain")).empty());
  EXPECT_TRUE(bytes_of(path("away")) == bytes_of(path("plain")));
}

TEST_F(AwayCheckpointTest, TheHashIsTheSameAndLeavesStateAway) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  const auto hash = [](AwayNet& each) {
    const AwayNet::Here here(each);
    return train::state_hash(AwayModel(each), *each.adam, each.generator);
  };
  plain.run(whole);
  net.run(step);
  EXPECT_EQ(hash(net), hash(plain));
  EXPECT_EQ(net.away(), AwayNet::kMoments);
}

TEST_F(AwayCheckpointTest, ARunGoesOnUnderAnotherBudget) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  for (int i = 0; i < 2; ++i) {
    plain.run(whole);
    net.run(step);
  }
  save(net, path("run"));
  for (const Bytes room : {kTight, 2400 * kKiB, 64 * kMiB}) {
    AwayNet next;
    auto step_of_next = next.compiled(within(next, room));
    {  // before the load: the budget then has room to plan in
      const AwayNet::Here here(next);
      step_of_next.prepare({tensor::Spec{f32, {16, AwayNet::kWidth}}});
    }
    load(next, path("run"));
    next.run(step_of_next);
    EXPECT_EQ(next.away() > 0, room < 3 * kMiB) << room;
    save(next, path("next"));
    AwayNet other;
    load(other, path("run"));
    auto eager = other.function();
    other.run(eager);
    EXPECT_EQ(next.values(), other.values()) << room;
    EXPECT_EQ(next.moments(), other.moments()) << room;
  }
}

// A load into a step whose state is away.
TEST_F(AwayCheckpointTest, WhatIsLoadedCounts) {
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  net.run(step);
  save(net, path("run"));
  const double loss = net.run(step);
  const Rows moments = net.moments();
  net.run(step);
  load(net, path("run"));
  EXPECT_EQ(net.run(step), loss);
  EXPECT_EQ(net.moments(), moments);
}

}  // namespace
}  // namespace neap::compiler
