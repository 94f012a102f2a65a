// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ranks that share out the optimizer's state have the bits of ranks that do
// not, and hold so much less.
#include <gmock/gmock.h>

#include <memory>

#include "neap/autograd/backward.hpp"
#include "neap/dist/step_ranks.hpp"
#include "neap/dist/traffic.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adafactor.hpp"
#include "neap/optim/clip.hpp"
#include "neap/optim/ema.hpp"
#include "neap/optim/lion.hpp"
#include "neap/optim/muon.hpp"
#include "neap/optim/rmsprop.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/program/ranks.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/state_hash.hpp"
#include "ranks_zero.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

constexpr int kShards = 4;
constexpr std::int64_t kBatch = 7;  // 2, 2, 2 and 1 in each shard
constexpr int kSteps = 3;

struct Outcome {
  Trace trace;
  compiler::StateParts parts;
  Bytes state = 0;
  Bytes sent = 0;  // in the last step
  dist::Traffic said;
};

Outcome train_on(const dist::Group& group, Kind kind, bool is_shared) {
  Training training({.kind = kind, .batch = kBatch});
  CompileOptions how;
  how.shards = kShards;
  how.ranks = group.for_steps();
  if (is_shared) {
    training.optimizer().share_out(how.ranks);
  }
  auto step = training.compile(how);
  Outcome out;
  for (int i = 0; i < kSteps; ++i) {
    const auto [x, y] = training.batch(static_cast<std::uint64_t>(i));
    const Bytes before = group.counts().sent;
    out.trace.losses.push_back(
        step(own_rows(x, kShards, group), own_rows(y, kShards, group)).item());
    out.sent = group.counts().sent - before;
  }
  out.parts = step.prediction().state;
  out.state = training.optimizer().state_bytes();
  out.said = dist::traffic_of(step.program(), {1e-6, 1e-7, 1e9});
  out.trace.hash = training.hash();
  return out;
}

class RanksZeroTest : public testing::TestWithParam<Kind> {};

TEST_P(RanksZeroTest, HaveTheBitsOfOneThatHasAllState) {
  const Outcome alone = train_on(dist::Group(), GetParam(), true);
  for (const int ranks : {2, 4}) {
    on_ranks(ranks, [&](const dist::Group& group) {
      const Outcome one = train_on(group, GetParam(), true);
      EXPECT_EQ(one.trace, alone.trace) << "rank " << group.rank();
      EXPECT_EQ(one.parts.all, alone.state);
      EXPECT_EQ(one.parts.own, one.state);
      EXPECT_LE(one.state, one.parts.most);
      EXPECT_EQ(group.sum(static_cast<double>(one.state), "state"),
                static_cast<double>(alone.state));
    });
  }
}

TEST_P(RanksZeroTest, SendWhatTheProgramSaysToTheByte) {
  on_ranks(4, [&](const dist::Group& group) {
    const Outcome one = train_on(group, GetParam(), true);
    EXPECT_EQ(one.said.sent, one.sent) << "rank " << group.rank();
    const double handed_on = group.sum(static_cast<double>(one.parts.handed_on),
                                       "what is handed on");
    EXPECT_EQ(handed_on, 4.0 * static_cast<double>(one.parts.least_handed));
  });
}

// Bytes of a training with rows of its own: of a dry run of one rank, which
// knows no other, and measured.
memory::Stats stats_of(Kind kind, std::int64_t own, bool is_rehearsal,
                       const std::shared_ptr<compiler::Ranks>& ranks) {
  Training training({.kind = kind,
                     .batch = own,
                     .is_rehearsal = is_rehearsal,
                     .host = memory::HostAllocator::kPooled});
  CompileOptions how;
  how.shards = kShards;
  how.ranks = ranks;
  training.optimizer().share_out(ranks);
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

TEST_P(RanksZeroTest, HoldWhatADryRunOfOneRankSaysToTheByte) {
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

INSTANTIATE_TEST_SUITE_P(EveryKind, RanksZeroTest, testing::ValuesIn(kAllKinds),
                         kind_of);

// Memory between steps is less by the state of the others, and its
// peak by as much at least: its program is smaller, too.
TEST(RanksZeroBytesTest, AreLessByTheStateOfTheOtherRanks) {
  constexpr int kRanks = 4;
  struct Held {
    Bytes persistent = 0;
    Bytes state = 0;
    Bytes peak = 0;
  };
  const auto held = [](int rank, bool is_shared) {
    Training training({.kind = Kind::kGpt, .batch = 2, .is_rehearsal = true});
    CompileOptions how;
    how.shards = kShards;
    how.ranks = dist::planned_ranks(rank, kRanks);
    if (is_shared) {
      training.optimizer().share_out(how.ranks);
    }
    auto step = training.compile(how);
    step.prepare(training.specs());
    return Held{step.prediction().persistent,
                training.optimizer().state_bytes(),
                training.domain().stats().live_peak};
  };
  for (int rank = 0; rank < kRanks; ++rank) {
    const Held all = held(rank, false);
    const Held part = held(rank, true);
    EXPECT_NEAR(static_cast<double>(part.state),
                static_cast<double>(all.state) / kRanks,
                0.02 * static_cast<double>(all.state));
    EXPECT_EQ(all.persistent - part.persistent, all.state - part.state);
    EXPECT_GE(all.peak - part.peak, all.state - part.state);
  }
}

// --- every optimizer ---------------------------------------------------------

using Maker = std::unique_ptr<optim::Optimizer> (*)(const ParameterList&);

template <class Optimizer, class Options>
std::unique_ptr<optim::Optimizer> made(const ParameterList& parameters,
                                       const Options& options) {
  return std::make_unique<Optimizer>(parameters, options);
}

struct Named {
  const char* name;
  Maker make;
};

const Named kOptimizers[] = {  // NOLINT(*-avoid-c-arrays)
    {"SgdWithMomentum",
     [](const ParameterList& p) {
       return made<optim::SGD>(p,
                               optim::SGDOptions{.lr = 0.1, .momentum = 0.9});
     }},
    {"SgdWithoutState",
     [](const ParameterList& p) {
       return made<optim::SGD>(p, optim::SGDOptions{.lr = 0.1});
     }},
    {"Adam",
     [](const ParameterList& p) {
       return made<optim::Adam>(p, optim::AdamOptions{});
     }},
    {"RmsProp",
     [](const ParameterList& p) {
       return made<optim::RMSprop>(p, optim::RMSpropOptions{});
     }},
    {"Lion",
     [](const ParameterList& p) {
       return made<optim::Lion>(p, optim::LionOptions{});
     }},
    {"Adafactor",
     [](const ParameterList& p) {
       return made<optim::Adafactor>(p, optim::AdafactorOptions{});
     }},
    {"Muon", [](const ParameterList& p) {
       ParameterList matrices;
       for (const Parameter& one : p) {
         if (one.tensor.rank() == 2) {
           matrices.push_back(one);
         }
       }
       return made<optim::Muon>(matrices, optim::MuonOptions{});
     }}};

class ZeroOfOptimizersTest : public testing::TestWithParam<Named> {};

// With averages of the weights, and a clipped norm.
std::uint64_t hash_of(const dist::Group& group, Maker make) {
  const auto domain = Domain::create({});
  const UseDomain use(*domain);
  Generator generator(3);
  const UseGenerator random(generator);
  Pair net;
  const auto optimizer = make(net.parameters());
  optim::Ema average(net.parameters());
  CompileOptions how;
  how.shards = kShards;
  how.ranks = group.for_steps();
  optimizer->share_out(how.ranks);
  auto step = neap::compile(
      [&](const Tensor& x) {
        const Tensor loss = mean(square(net(x)));
        backward(loss);
        optim::clip_grad_norm(net.parameters(), 0.1);
        optimizer->step({.release_gradients = true});
        average.update();
        net.zero_grad();
        return loss.detach();
      },
      how);
  for (int i = 0; i < kSteps; ++i) {
    step(own_rows(randn({8, 5}), kShards, group)).item();
  }
  return train::state_hash(net, *optimizer, average, generator);
}

TEST_P(ZeroOfOptimizersTest, HasTheBitsOfOneRank) {
  const std::uint64_t alone = hash_of(dist::Group(), GetParam().make);
  for (const int ranks : {2, 4}) {
    on_ranks(ranks, [&](const dist::Group& group) {
      EXPECT_EQ(hash_of(group, GetParam().make), alone)
          << "rank " << group.rank() << " of " << ranks;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOptimizer, ZeroOfOptimizersTest,
                         testing::ValuesIn(kOptimizers),
                         [](const testing::TestParamInfo<Named>& one) {
                           return one.param.name;
                         });

}  // namespace
}  // namespace neap::tests
