// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training on several ranks, whose compiled steps share out the shards of each
// batch, has the bits of one process that has all of them.
#include <gtest/gtest.h>

#include <memory>

#include "neap/dist/fake_engine_for_test.hpp"
#include "neap/dist/group.hpp"
#include "neap/ops/ops.hpp"
#include "neap/program/ranks.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

constexpr int kShards = 4;
constexpr std::int64_t kBatch = 7;  // 2, 2, 2 and 1 in each shard
constexpr int kSteps = 3;

// The rows of a rank, as a loader would read them.
Tensor rows_of(const Tensor& batch, const compiler::RowsOfRanks& rows,
               int rank) {
  return contiguous(
      slice(batch, 0, rows.first_of_rank(rank), rows.first_of_rank(rank + 1)));
}

struct Outcome {
  Trace trace;
  compiler::Sharding sharding;
  Bytes sent = 0;
  bool operator==(const Outcome& other) const { return trace == other.trace; }
};

Outcome train_on(const dist::Group& group, Kind kind, CompileOptions how = {},
                 int threads = 1) {
  Training training({.kind = kind, .batch = kBatch, .threads = threads});
  how.shards = kShards;
  how.ranks = group.for_steps();
  auto step = training.compile(how);
  Outcome out;
  for (int i = 0; i < kSteps; ++i) {
    const auto [x, y] = training.batch(static_cast<std::uint64_t>(i));
    const compiler::RowsOfRanks rows{x.shape()[0], kShards, group.ranks()};
    const Bytes before = group.counts().sent;
    out.trace.losses.push_back(
        step(rows_of(x, rows, group.rank()), rows_of(y, rows, group.rank()))
            .item());
    out.sent = group.counts().sent - before;
  }
  out.sharding = step.program().sharding;
  out.trace.hash = training.hash();
  return out;
}

class RanksTest : public testing::TestWithParam<Kind> {};

TEST_P(RanksTest, HaveTheBitsOfOneWithAllShards) {
  const Outcome alone = train_on(dist::Group(), GetParam());
  for (const int ranks : {2, 4}) {
    dist::FakeWorld world(ranks, {.seed = 3});
    world.run([&](dist::Engine& engine) {
      const dist::Group group(
          std::shared_ptr<dist::Engine>(&engine, [](dist::Engine*) {}));
      const Outcome one =
          train_on(group, GetParam(), {}, 1 + engine.rank() % 2);
      EXPECT_EQ(one.trace, alone.trace) << "rank " << engine.rank();
      EXPECT_EQ(one.sharding.ranks, static_cast<std::uint32_t>(ranks));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, RanksTest, testing::ValuesIn(kAllKinds),
                         kind_of);

}  // namespace
}  // namespace neap::tests
