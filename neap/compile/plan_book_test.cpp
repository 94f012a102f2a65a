// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step with a plan file: the second start takes what the first has found.
#include "neap/compile/plan_book.hpp"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/lower.hpp"
#include "neap/files/door.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/program/print.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "neap/threads/pool.hpp"

namespace neap::compiler {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kBatch = 256;
constexpr std::int64_t kWidth = 32;

struct Net {
  explicit Net(int layers = 8) {
    seed(1);
    for (int i = 0; i < layers; ++i) {
      weights.push_back(requires_grad_(randn({kWidth, kWidth}) * 0.2));
    }
  }
  auto step() {
    return [this](const Tensor& x) {
      Tensor y = x;
      for (const Tensor& w : weights) {
        y = dropout(tanh(matmul(y, w)), 0.1);
      }
      Tensor loss = sum(square(y));
      backward(loss);
      const NoGrad no_grad;
      for (const Tensor& w : weights) {
        copy_(w, w - w.grad() * 0.01);
        set_grad(w, Tensor());
      }
      return loss;
    };
  }
  std::vector<Tensor> weights;
};

// The first line has bytes that the making of a program has left.
std::string listing_of(const Program& program) {
  const auto text = print(program);
  return std::string(text.substr(text.find('\n')));
}

struct Trained {
  std::vector<double> losses;
  std::vector<float> weight;
  Bytes arena = 0;
  Fitting fitting{};
  std::string listing;
};

Trained train(const CompileOptions& options, std::int64_t batch = kBatch,
              int layers = 8) {
  Net net(layers);
  auto step = neap::compile(net.step(), options);
  Trained out;
  seed(2);
  for (int i = 0; i < 3; ++i) {
    out.losses.push_back(step(randn({batch, kWidth})).item());
  }
  out.weight = floats(net.weights.front());
  out.arena = step.arena_bytes();
  out.fitting = step.program().fitting;
  out.listing = listing_of(step.program());
  return out;
}

class PlanBookTest : public ::testing::Test {
 protected:
  // Half of the arena, met by calls that run again.
  CompileOptions options() const {
    return {.arena_limit = limit,
            .plan = {.file = folder.at("plan")},
            .passes = {.micro_batches = 1}};
  }
  // All values kept: nothing is searched.
  CompileOptions kept() const { return {.plan = {.file = folder.at("plan")}}; }
  CompileOptions spilling() const {
    CompileOptions out = options();
    out.spill = {.folder = folder.path(), .least = 4 * kKiB};
    return out;
  }
  std::string content() const { return folder.get("plan"); }
  std::string refusal(const CompileOptions& given, std::int64_t batch = kBatch,
                      int layers = 8) const {
    try {
      train(given, batch, layers);
      return "";
    } catch (const PlanFileError& error) {
      return error.what();
    }
  }
  files::TemporaryFolder folder;
  Bytes whole = train({}).arena;
  Bytes limit = whole / 2;
};

TEST_F(PlanBookTest, TheSecondStartIsThatOfTheFirst) {
  const Trained first = train(options());
  const std::string file = content();
  EXPECT_GT(first.fitting.again, 0U);
  EXPECT_LE(first.arena, limit);
  ASSERT_FALSE(file.empty());
  const Trained second = train(options());
  EXPECT_EQ(second.losses, first.losses);
  EXPECT_EQ(second.weight, first.weight);
  EXPECT_EQ(second.arena, first.arena);
  EXPECT_EQ(second.listing, first.listing);
  EXPECT_EQ(second.fitting.extra, first.fitting.extra);
  EXPECT_EQ(second.fitting.bound, first.fitting.bound);
  EXPECT_EQ(content(), file);
  // One plan gives one file.
  std::filesystem::remove(folder.at("plan"));
  train(options());
  EXPECT_EQ(content(), file);
  const Trained plain =
      train({.arena_limit = limit, .passes = {.micro_batches = 1}});
  EXPECT_EQ(plain.losses, first.losses);
  EXPECT_EQ(plain.arena, first.arena);
}

// No search would find the plan of a smaller arena.
TEST_F(PlanBookTest, APlanIsTakenAndNotSearchedFor) {
  CompileOptions narrow = options();
  narrow.arena_limit = whole * 35 / 100;
  const Trained found = train(narrow);
  ASSERT_GT(found.fitting.extra,
            train({.arena_limit = limit, .passes = {.micro_batches = 1}})
                .fitting.extra);
  std::string file = content();
  const auto bytes = std::as_bytes(std::span(file));
  PlanTable table = *parse_plan_file(bytes);
  table.facts[static_cast<std::size_t>(PlanFact::kArenaLimit)] = limit;
  const auto changed = plan_file_bytes(table.facts, table.entries);
  folder.put("plan",
             {reinterpret_cast<const char*>(changed.data()), changed.size()});
  const Trained taken = train(options());
  EXPECT_EQ(taken.listing, found.listing);
  EXPECT_EQ(taken.arena, found.arena);
  EXPECT_EQ(taken.losses, found.losses);
}

TEST_F(PlanBookTest, MicroBatchesAreTaken) {
  CompileOptions given = options();
  given.passes.micro_batches = 0;
  const Trained first = train(given);
  const std::string file = content();
  EXPECT_GE(first.fitting.micro_batches, 2U);
  EXPECT_EQ(first.losses, train({}).losses);
  const Trained second = train(given);
  EXPECT_EQ(second.listing, first.listing);
  EXPECT_EQ(second.arena, first.arena);
  EXPECT_EQ(second.losses, first.losses);
  EXPECT_EQ(second.fitting.micro_batches, first.fitting.micro_batches);
  EXPECT_EQ(second.fitting.extra, first.fitting.extra);
  EXPECT_EQ(content(), file);
  EXPECT_THAT(refusal(options()), HasSubstr("number of micro-batches"));
}

TEST_F(PlanBookTest, ADiskIsMeasuredOnce) {
  files::FaultDoor door(files::system_door());
  CompileOptions given = spilling();
  given.recompute = false;  // however slow the disk is
  given.arena_limit = whole * 2 / 3;
  given.spill.door = &door;
  const Trained first = train(given);
  const std::int64_t measured = door.operations();
  ASSERT_GT(first.fitting.spilled, 0U);
  files::FaultDoor other(files::system_door());
  given.spill.door = &other;
  const Trained second = train(given);
  EXPECT_LT(other.operations() + 40, measured);
  EXPECT_EQ(second.listing, first.listing);
  EXPECT_EQ(second.losses, first.losses);
  EXPECT_EQ(second.arena, first.arena);
}

TEST_F(PlanBookTest, WhatItIsNotForIsSaid) {
  train(options());
  const std::string file = content();
  EXPECT_THAT(refusal(options(), 2 * kBatch),
              AllOf(HasSubstr(folder.at("plan")), HasSubstr("no plan of this"),
                    HasSubstr("delete or rename it")));
  EXPECT_THAT(refusal(options(), kBatch, 9), HasSubstr("no plan of this step"));
  CompileOptions other = options();
  other.arena_limit = limit + 1;
  EXPECT_THAT(refusal(other),
              HasSubstr("arena limit was " + format_bytes_short(limit) +
                        ", is 1 B more"));
  other = options();
  other.budget = kGiB;
  EXPECT_THAT(refusal(other), HasSubstr("budget was none, is 1.0 GiB"));
  other = options();
  other.plan.run_budget = kGiB;
  EXPECT_THAT(refusal(other), HasSubstr("budget was none"));
  other = options();
  other.passes.fuse = false;
  EXPECT_THAT(refusal(other), HasSubstr("choice of passes"));
  other = options();
  other.recompute = false;
  EXPECT_THAT(refusal(other), HasSubstr("recomputation was on, is off"));
  EXPECT_THAT(refusal(spilling()), HasSubstr("spilling was off"));
  threads::Pool pool(3);
  const tensor::ExecutionGuard guard(
      [&](tensor::Execution& e) { e.executor = &pool; });
  EXPECT_THAT(refusal(options()), HasSubstr("number of threads"));
  EXPECT_EQ(content(), file);
}

TEST_F(PlanBookTest, AFlippedBitIsRefusedAndNothingIsLeft) {
  train(options());
  const std::string file = content();
  Net net;
  auto step = neap::compile(net.step(), options());
  const std::vector<float> before = floats(net.weights.front());
  for (std::size_t bit = 3; bit < 8 * file.size(); bit += 997) {
    std::string bad = file;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    folder.put("plan", bad);
    EXPECT_THROW(step(randn({kBatch, kWidth})), PlanFileError) << bit;
    EXPECT_EQ(step.programs(), 0);
    EXPECT_EQ(content(), bad);
  }
  EXPECT_EQ(floats(net.weights.front()), before);
  folder.put("plan", "");
  EXPECT_THROW(step(randn({kBatch, kWidth})), PlanFileError);
  folder.put("plan", file);
  step(randn({kBatch, kWidth}));
}

// Whoever can sign a file cannot change what is computed.
TEST_F(PlanBookTest, ASignedScheduleIsRefusedOrGivesTheSameBits) {
  const Trained first = train(options());
  const std::string file = content();
  const PlanTable table = *parse_plan_file(std::as_bytes(std::span(file)));
  const PlanEntry entry = table.entries.front();
  int refused = 0;
  for (std::size_t bit = 5; bit < 8 * entry.record.size(); bit += 97) {
    memory::Vector<std::byte> record(entry.record.begin(), entry.record.end());
    record[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const PlanEntry changed{entry.program, record};
    const auto bytes = plan_file_bytes(table.facts, std::span(&changed, 1));
    folder.put("plan",
               {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    try {
      const Trained some = train(options());
      EXPECT_EQ(some.losses, first.losses) << bit;
      EXPECT_LE(some.arena, limit) << bit;
    } catch (const PlanFileError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
  PlanRecord record = *parse_plan_record(entry.record);
  record.schedule->runs.front().index = 1;  // before what it reads is computed
  const auto early = plan_record_bytes(record);
  const PlanEntry changed{entry.program, early};
  const auto bytes = plan_file_bytes(table.facts, std::span(&changed, 1));
  folder.put("plan",
             {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  EXPECT_THAT(refusal(options()),
              HasSubstr("a schedule is invalid at run 0: order"));
}

TEST_F(PlanBookTest, FurtherShapesAreAdded) {
  CompileOptions given = options();
  const auto run = [&](std::int64_t last) {
    Net net;
    auto step = neap::compile(net.step(), given);
    seed(2);
    step(randn({kBatch, kWidth}));
    return std::pair(step(randn({last, kWidth})).item(), step.arena_bytes());
  };
  const auto first = run(kBatch - 56);
  const std::string two = content();
  EXPECT_EQ(parse_plan_file(std::as_bytes(std::span(two)))->entries.size(), 2U);
  EXPECT_EQ(run(kBatch - 56), first);
  EXPECT_EQ(content(), two);
  run(100);
  const std::string three = content();
  EXPECT_EQ(parse_plan_file(std::as_bytes(std::span(three)))->entries.size(),
            3U);
  // In whatever order they came.
  given.plan.file = folder.at("other");
  run(100);
  run(kBatch - 56);
  EXPECT_EQ(folder.get("other"), three);
}

TEST_F(PlanBookTest, BatchesAheadAreInOneFile) {
  CompileOptions given = options();
  given.max_batch = kBatch;
  given.warm = {kBatch - 56, 100};
  const Trained first = train(given);
  const std::string file = content();
  EXPECT_EQ(parse_plan_file(std::as_bytes(std::span(file)))->entries.size(),
            3U);
  const Trained second = train(given);
  EXPECT_EQ(second.losses, first.losses);
  EXPECT_EQ(second.arena, first.arena);
  EXPECT_EQ(content(), file);
}

TEST_F(PlanBookTest, AStepWithoutALimitHasAPlanToo) {
  const Trained first = train(kept());
  const Trained second = train(kept());
  EXPECT_EQ(first.arena, whole);
  EXPECT_EQ(second.listing, first.listing);
  EXPECT_EQ(second.losses, first.losses);
}

TEST_F(PlanBookTest, LowerTakesAPlanToo) {
  const Trained first = train(options());
  Net net;
  const Lowered lowered =
      lower(net.step(), {tensor::Spec{f32, {kBatch, kWidth}}}, options());
  EXPECT_EQ(lowered.plan.space().bytes, first.arena);
  EXPECT_EQ(listing_of(lowered.program), first.listing);
}

TEST_F(PlanBookTest, AKilledWriteLeavesNoneOrAll) {
  train(kept());
  const std::string file = content();
  std::filesystem::remove(folder.at("plan"));
  for (std::int64_t at = 1;; ++at) {
    files::FaultDoor door(files::system_door(), {.stop_at = at});
    CompileOptions given = kept();
    given.plan.door = &door;
    bool has_failed = false;
    try {
      train(given);
    } catch (const IoError&) {
      has_failed = true;
    }
    EXPECT_THAT(content(), ::testing::AnyOf("", file)) << at;
    if (!has_failed) {
      EXPECT_GT(at, 5);
      break;
    }
    std::filesystem::remove(folder.at("plan"));
  }
  EXPECT_EQ(content(), file);
}

TEST_F(PlanBookTest, AFailedReadIsAnErrorOfTheFile) {
  train(kept());
  const std::string file = content();
  for (std::int64_t at = 1;; ++at) {
    files::FaultDoor door(files::system_door(), {.fail_at = at});
    CompileOptions given = kept();
    given.plan.door = &door;
    try {
      train(given);
      EXPECT_GT(at, 3);
      break;
    } catch (const IoError& error) {
      EXPECT_THAT(error.what(), HasSubstr("plan"));
    }
  }
  files::FaultDoor lying(files::system_door(), {.lie_at = 1});
  CompileOptions given = kept();
  given.plan.door = &lying;
  EXPECT_THAT(refusal(given), HasSubstr("checksum"));
  EXPECT_EQ(content(), file);
}

TEST_F(PlanBookTest, SurvivesAFailureAtAnyRequest) {
  const Bytes small_limit = train({}, kBatch, 4).arena * 3 / 4;
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  Net net(4);
  CompileOptions small = options();
  small.plan.file = folder.at("small");
  small.arena_limit = small_limit;
  const Tensor x = randn({kBatch, kWidth});
  neap::compile(net.step(), small)
      .prepare({tensor::Spec{f32, {kBatch, kWidth}}});
  const std::string known = folder.get("small");
  const std::vector<float> before = floats(net.weights.front());
  const auto result = testing::sweep_allocation_failures(
      *domain,
      [&] {
        auto step = neap::compile(net.step(), small);
        step.prepare({tensor::Spec{f32, {kBatch, kWidth}}});
      },
      [&](std::int64_t /*n*/) {
        EXPECT_EQ(folder.get("small"), known);
        EXPECT_EQ(floats(net.weights.front()), before);
      });
  EXPECT_GT(result.failures, 100);
  EXPECT_THAT(result.problems, ::testing::IsEmpty());
  small = kept();
  small.plan.file = folder.at("new");
  const auto written = testing::sweep_allocation_failures(
      *domain,
      [&] {
        auto step = neap::compile(net.step(), small);
        step.prepare({tensor::Spec{f32, {kBatch, kWidth}}});
      },
      [&](std::int64_t /*n*/) { EXPECT_EQ(folder.get("new"), ""); });
  EXPECT_GT(written.failures, 100);
  EXPECT_THAT(written.problems, ::testing::IsEmpty());
  EXPECT_NE(folder.get("new"), "");
}

TEST_F(PlanBookTest, ABudgetIsMetTheSameWayAgain) {
  constexpr std::int64_t kLarge = 4096;  // beside it bookkeeping is small
  const Bytes large = train({}, kLarge).arena;
  const auto run = [&](Bytes budget) {
    Net net;
    const Tensor x = randn({kLarge, kWidth});
    auto step = neap::compile(
        net.step(), {.budget = budget, .plan = {.file = folder.at("plan")}});
    seed(2);
    std::array<double, 3> losses{};
    for (double& loss : losses) {
      loss = step(x).item();
    }
    return std::pair(step.arena_bytes(), losses);
  };
  memory::domain().trim();
  const memory::Stats stats = memory::domain().stats();
  const Bytes budget = stats.held + stats.external + large;
  const auto first = run(budget);
  EXPECT_LT(first.first, large);
  memory::domain().trim();
  EXPECT_EQ(run(budget), first);
}

}  // namespace
}  // namespace neap::compiler
