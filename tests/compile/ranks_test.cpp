// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training on several ranks, whose compiled steps share out the shards of each
// batch, has the bits of one process that has all of them.
#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "neap/dist/fake_engine_for_test.hpp"
#include "neap/dist/group.hpp"
#include "neap/dist/step_ranks.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/ops/ops.hpp"
#include "neap/program/ranks.hpp"
#include "neap/tensor/create.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

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
  Bytes arena = 0;
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
  out.arena = step.arena_bytes();
  out.trace.hash = training.hash();
  return out;
}

// Calls run(group) in each of so many ranks.
template <class Run>
void on_ranks(int ranks, const Run& run, const dist::FakeOptions& how = {}) {
  dist::FakeWorld world(ranks, how);
  world.run([&](dist::Engine& engine) {
    run(dist::Group(
        std::shared_ptr<dist::Engine>(&engine, [](dist::Engine*) {})));
  });
}

class RanksTest : public testing::TestWithParam<Kind> {};

TEST_P(RanksTest, HaveTheBitsOfOneWithAllShards) {
  const Outcome alone = train_on(dist::Group(), GetParam());
  for (const int ranks : {2, 4}) {
    on_ranks(ranks, [&](const dist::Group& group) {
      const Outcome one = train_on(group, GetParam(), {}, 1 + group.rank() % 2);
      EXPECT_EQ(one.trace, alone.trace) << "rank " << group.rank();
      EXPECT_EQ(one.sharding.ranks, static_cast<std::uint32_t>(ranks));
      // Three comparisons of eight bytes come on top.
      EXPECT_NEAR(static_cast<double>(one.sent),
                  static_cast<double>(one.sharding.sent + 24 * (ranks - 1)),
                  0.005 * static_cast<double>(one.sent) + 4096);
    });
  }
}

// Bytes of a training with rows of its own: of a dry run of one rank, which
// knows no other, and measured.
memory::Stats stats_of(Kind kind, std::int64_t own_rows, bool is_rehearsal,
                       const std::shared_ptr<compiler::Ranks>& ranks) {
  Training training({.kind = kind,
                     .batch = own_rows,
                     .is_rehearsal = is_rehearsal,
                     .host = memory::HostAllocator::kPooled});
  CompileOptions how;
  how.shards = kShards;
  how.ranks = ranks;
  auto step = training.compile(how);
  const auto [x, y] = training.batch(0);
  if (is_rehearsal) {
    step.prepare(training.specs());
  } else {
    for (int i = 0; i < 5; ++i) {
      step(x, y).item();
    }
  }
  return training.domain().stats();
}

TEST_P(RanksTest, HoldWhatADryRunOfOneRankSaysToTheByte) {
  for (const int ranks : {2, 4}) {
    const std::int64_t own = 2 * kShards / ranks;
    on_ranks(ranks, [&](const dist::Group& group) {
      const memory::Stats told = stats_of(
          GetParam(), own, true, dist::planned_ranks(group.rank(), ranks));
      const memory::Stats found =
          stats_of(GetParam(), own, false, group.for_steps());
      EXPECT_EQ(told.peak, found.peak) << "rank " << group.rank();
      EXPECT_EQ(told.live_peak, found.live_peak) << "rank " << group.rank();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, RanksTest, testing::ValuesIn(kAllKinds),
                         kind_of);

// Each rank makes its own program fit, in its own way.
TEST(RanksWithinLimitsTest, HaveTheSameBits) {
  for (const Kind kind : {Kind::kGpt, Kind::kNewton, Kind::kResNet34}) {
    const Outcome alone = train_on(dist::Group(), kind);
    on_ranks(2, [&](const dist::Group& group) {
      const Outcome one = train_on(group, kind);
      CompileOptions how;
      how.arena_limit = one.arena * (97 - 3 * group.rank()) / 100;
      const Outcome fitted = train_on(group, kind, how);
      EXPECT_EQ(fitted.trace, alone.trace) << "rank " << group.rank();
      EXPECT_LE(fitted.arena, how.arena_limit);
    });
  }
}

// A rank that does not suit the others is an error in all of them, at once.
class RanksRefusalTest : public testing::Test {
 protected:
  // Runs a call in two ranks, which `change` makes different, and returns how
  // each ended.
  template <class Change>
  static std::array<std::string, 2> ends(const Change& change) {
    std::array<std::string, 2> out;
    on_ranks(2, [&](const dist::Group& group) {
      std::string& end = out[static_cast<std::size_t>(group.rank())];
      Training training({.kind = Kind::kMlp, .batch = kBatch});
      CompileOptions how;
      how.shards = kShards;
      how.ranks = group.for_steps();
      auto [x, y] = training.batch(0);
      const compiler::RowsOfRanks rows{kBatch, kShards, 2};
      x = rows_of(x, rows, group.rank());
      y = rows_of(y, rows, group.rank());
      bool throws = false;
      if (group.rank() == 1) {
        change(training, x, y, throws);
      }
      auto step = neap::compile(
          [&](const Tensor& input, const Tensor& target) {
            if (throws) {
              throw std::runtime_error("not today");
            }
            return training.plain(input, target);
          },
          how);
      const std::uint64_t before = training.hash();
      try {
        step(x, y);
      } catch (const RankMismatch&) {
        end = "mismatch";
      } catch (const ShapeError&) {
        end = "shape";
      } catch (const std::exception& error) {
        end = error.what();
      }
      EXPECT_EQ(training.hash(), before) << "rank " << group.rank();
    });
    return out;
  }
  static constexpr std::array<const char*, 2> kBoth{"mismatch", "mismatch"};
};

TEST_F(RanksRefusalTest, OtherWeights) {
  EXPECT_THAT(ends([](Training& training, Tensor&, Tensor&, bool&) {
                const NoGrad no_grad;
                const auto parameters =
                    training.subject().module().parameters();
                fill_(parameters[0].tensor, 0.5);
              }),
              ElementsAreArray(kBoth));
}

TEST_F(RanksRefusalTest, AnotherPositionOfTheGenerator) {
  EXPECT_THAT(ends([](Training&, Tensor&, Tensor&, bool&) { randn({1}); }),
              ElementsAreArray(kBoth));
}

TEST_F(RanksRefusalTest, OtherRows) {
  const auto found = ends([](Training&, Tensor& x, Tensor& y, bool&) {
    x = contiguous(slice(x, 0, 0, 1));
    y = contiguous(slice(y, 0, 0, 1));
  });
  EXPECT_THAT(found, ElementsAre("shape", "shape"));
}

TEST_F(RanksRefusalTest, AStepThatThrows) {
  const auto found =
      ends([](Training&, Tensor&, Tensor&, bool& throws) { throws = true; });
  EXPECT_THAT(found, ElementsAre("mismatch", "not today"));
}

TEST_F(RanksRefusalTest, AnotherModel) {
  EXPECT_THAT(ends([](Training& training, Tensor&, Tensor&, bool&) {
                training.subject().module().eval();
              }),
              ElementsAreArray(kBoth));
}

// How a call ends in each of two ranks.
template <class Call>
std::array<std::string, 2> ends_of(const Call& call) {
  std::array<std::string, 2> out;
  on_ranks(2, [&](const dist::Group& group) {
    std::string& end = out[static_cast<std::size_t>(group.rank())];
    Training training({.kind = Kind::kMlp, .batch = kBatch});
    CompileOptions how;
    how.shards = kShards;
    how.ranks = group.for_steps();
    try {
      call(training, how, group.rank());
    } catch (const RankMismatch&) {
      end = "mismatch";
    } catch (const ShapeError&) {
      end = "shape";
    } catch (const ValueError&) {
      end = "value";
    }
  });
  return out;
}

std::pair<Tensor, Tensor> own_batch(const Training& training, int rank) {
  const auto [x, y] = training.batch(0);
  const compiler::RowsOfRanks rows{kBatch, kShards, 2};
  return {rows_of(x, rows, rank), rows_of(y, rows, rank)};
}

// Calls a step twice, with a change in rank 1 between.
template <class Change>
std::array<std::string, 2> ends_after(const Change& change) {
  return ends_of([&](Training& training, const CompileOptions& how, int rank) {
    auto step = training.compile(how);
    const auto [x, y] = own_batch(training, rank);
    step(x, y);
    if (rank == 1) {
      change(training);
    }
    const std::uint64_t before = training.hash();
    try {
      step(x, y);
    } catch (const RankMismatch&) {
      EXPECT_EQ(training.hash(), before) << "rank " << rank;
      throw;
    }
  });
}

TEST_F(RanksRefusalTest, ARateThatChanges) {
  EXPECT_THAT(
      ends_after([](Training& training) {
        training.optimizer().set_schedule([](std::int64_t) { return 0.5; });
      }),
      ElementsAreArray(kBoth));
}

TEST_F(RanksRefusalTest, AWeightThatIsWritten) {
  EXPECT_THAT(ends_after([](Training& training) {
                const NoGrad no_grad;
                fill_(training.subject().module().parameters()[1].tensor, 0.5);
              }),
              ElementsAreArray(kBoth));
}

TEST_F(RanksRefusalTest, AnArgumentOfAllRows) {
  EXPECT_THAT(
      ends_of([](Training& training, const CompileOptions& how, int rank) {
        auto step = training.compile(how);
        step(own_batch(training, rank).first, training.batch(0).second);
      }),
      ElementsAre("shape", "shape"));
}

TEST_F(RanksRefusalTest, OtherNumbersAndWholeTensors) {
  EXPECT_THAT(
      ends_of([](Training&, const CompileOptions& how, int rank) {
        auto step = neap::compile(
            [](const Tensor& x, const Tensor& by) { return sum(x * by); }, how);
        step(ones({4, 3}), 1.0);
        step(ones({4, 3}), 1.0 + rank);
      }),
      ElementsAreArray(kBoth));
  EXPECT_THAT(
      ends_of([](Training&, const CompileOptions& how, int rank) {
        auto step = neap::compile(
            [](const Tensor& x, const Tensor& by) { return sum(x * by); }, how);
        step(ones({4, 3}), full({3}, 1.0 + rank));
      }),
      ElementsAreArray(kBoth));
}

TEST_F(RanksRefusalTest, ACallBesidePrepare) {
  EXPECT_THAT(
      ends_of([](Training& training, const CompileOptions& how, int rank) {
        auto step = training.compile(how);
        const auto [x, y] = own_batch(training, rank);
        if (rank == 0) {
          step.prepare(std::array{x.spec(), y.spec()});
        } else {
          step(x, y);
        }
      }),
      ElementsAreArray(kBoth));
}

TEST_F(RanksRefusalTest, LikeStepsInAnotherOrder) {
  EXPECT_THAT(ends_of([](Training&, const CompileOptions& how, int rank) {
                const auto plain = [](const Tensor& x) { return sum(x); };
                auto one = neap::compile(plain, how);
                auto two = neap::compile(plain, how);
                (rank == 0 ? one : two)(ones({4}));
              }),
              ElementsAreArray(kBoth));
}

}  // namespace
}  // namespace neap::tests
