// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The traffic that a program says beside the messages that its ranks exchange.
#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

#include "neap/dist/fake_engine_for_test.hpp"
#include "neap/dist/group.hpp"
#include "neap/dist/step_ranks.hpp"
#include "neap/dist/traffic.hpp"
#include "neap/ops/ops.hpp"
#include "neap/program/ranks.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

using dist::Network;
using dist::Traffic;
using dist::traffic_of;

constexpr int kShards = 8;
constexpr std::int64_t kBatch = 11;  // not the same rows in each rank
constexpr Network kAny{1e-6, 1e-7, 1e9};

Tensor rows_of(const Tensor& batch, const compiler::RowsOfRanks& rows,
               int rank) {
  return contiguous(
      slice(batch, 0, rows.first_of_rank(rank), rows.first_of_rank(rank + 1)));
}

// Compares bytes of a step of a rank, and operations that its engine began.
void expect_traffic(dist::FakeWorld& world, dist::Engine& engine, Kind kind) {
  const dist::Group group(
      std::shared_ptr<dist::Engine>(&engine, [](dist::Engine*) {}));
  Training training({.kind = kind, .batch = kBatch});
  CompileOptions how;
  how.shards = kShards;
  how.ranks = group.for_steps();
  auto step = training.compile(how);
  dist::GroupCounts before;
  std::int64_t begun = 0;
  // The first run compares the weights, too.
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto [x, y] = training.batch(i);
    const compiler::RowsOfRanks rows{x.shape()[0], kShards, group.ranks()};
    before = group.counts();
    begun = world.operations(group.rank());
    step(rows_of(x, rows, group.rank()), rows_of(y, rows, group.rank()));
  }
  const Traffic said = traffic_of(step.program(), kAny);
  EXPECT_EQ(said.sent, group.counts().sent - before.sent);
  EXPECT_EQ(said.received, group.counts().received - before.received);
  EXPECT_EQ(said.sends + said.receives, world.operations(group.rank()) - begun);
}

class RanksTrafficTest : public testing::TestWithParam<Kind> {};

TEST_P(RanksTrafficTest, IsThatOfARunToTheByteAndTheMessage) {
  for (const int ranks : {2, 8}) {
    dist::FakeWorld world(ranks, {});
    world.run([&](dist::Engine& engine) {
      expect_traffic(world, engine, GetParam());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, RanksTrafficTest,
                         testing::ValuesIn(kAllKinds), kind_of);

// A program of one of so many ranks, planned without the others.
class PlannedTraffic {
 public:
  explicit PlannedTraffic(int ranks)
      : training_(
            {.kind = Kind::kGpt, .batch = 1024 / ranks, .is_rehearsal = true}),
        step_(training_.compile(options(ranks))) {
    step_.prepare(training_.specs());
  }

  Traffic in(const Network& network, int comparisons = 0) const {
    return traffic_of(step_.program(), network, comparisons);
  }
  std::int64_t calls(std::string_view name) const {
    std::int64_t count = 0;
    for (const compiler::Call& call : step_.program().calls) {
      count += call.name == name ? 1 : 0;
    }
    return count;
  }

 private:
  static CompileOptions options(int ranks) {
    CompileOptions how;
    how.shards = 1024;
    how.ranks = dist::planned_ranks(ranks / 2, ranks);
    return how;
  }

  Training training_;
  decltype(std::declval<Training&>().compile({})) step_;
};

constexpr double kInstant = 1e30;  // bytes a second

TEST(RanksTrafficModelTest, LatencyComesWithEachPhase) {
  const PlannedTraffic traffic(1024);
  const std::int64_t phases =
      20 * traffic.calls("sum_over_ranks") + 10 * traffic.calls("share_rows");
  EXPECT_GT(phases, 0);
  EXPECT_NEAR(traffic.in({1.0, 0.0, kInstant}).seconds,
              static_cast<double>(phases), 1e-9);
  EXPECT_NEAR(traffic.in({1.0, 0.0, kInstant}, 3).seconds,
              static_cast<double>(phases + 30), 1e-9);
}

TEST(RanksTrafficModelTest, OverheadComesWithEachMessage) {
  const PlannedTraffic traffic(4);
  const Traffic said = traffic.in({0.0, 1.0, kInstant});
  // A message for which nothing comes back has both, too.
  const std::int64_t phases =
      4 * traffic.calls("sum_over_ranks") + 2 * traffic.calls("share_rows");
  const auto messages = static_cast<double>(said.sends + said.receives);
  EXPECT_GE(said.seconds, messages);
  EXPECT_LT(said.seconds, messages + static_cast<double>(phases));
}

TEST(RanksTrafficModelTest, BytesTakeTheTimeOfTheLink) {
  for (const int ranks : {2, 64, 1024}) {
    const PlannedTraffic traffic(ranks);
    const Traffic said = traffic.in({0.0, 0.0, 1.0});
    const auto sent = static_cast<double>(said.sent);
    EXPECT_GE(said.seconds, sent);
    EXPECT_LT(said.seconds, 1.1 * sent);
    // Halves are whole cache lines, which small arrays are not.
    EXPECT_GE(said.sent, said.least * 95 / 100);
    EXPECT_NEAR(static_cast<double>(said.sent), static_cast<double>(said.least),
                0.05 * said.seconds);
    EXPECT_EQ(said.least_seconds, static_cast<double>(said.least));
  }
}

// No more than a window of chunks is on its way.
TEST(RanksTrafficModelTest, ALongLatencyBoundsTheRate) {
  const PlannedTraffic traffic(2);
  const double near = traffic.in({1e-6, 0.0, 1e9}).seconds;
  const double far = traffic.in({0.1, 0.0, 1e9}).seconds;
  EXPECT_GT(far, near);
}

TEST(RanksTrafficModelTest, OneRankHasNone) {
  Training training({.kind = Kind::kGpt, .batch = 8, .is_rehearsal = true});
  auto step = training.compile({});
  step.prepare(training.specs());
  const Traffic said = traffic_of(step.program(), kAny);
  EXPECT_EQ(said.sent, 0);
  EXPECT_EQ(said.seconds, 0.0);
}

}  // namespace
}  // namespace neap::tests
