// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A limited arena is met by values that wait in a file, to the same bits.
#include <gmock/gmock.h>

#include <filesystem>

#include "neap/compile/deep_chain_for_test.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/compile/lower.hpp"
#include "neap/files/door.hpp"
#include "neap/files/door_for_test.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/memory/budget.hpp"
#include "neap/program/print.hpp"

namespace neap::compiler {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kLayers = 10;
constexpr std::int64_t kBatch = 512;
constexpr std::int64_t kWidth = kChainWidth;

struct Net : DeepChain {
  explicit Net(int layers = kLayers) : DeepChain(layers) {}
};

// Held and external, as budgets bound them.
Bytes in_use() {
  const memory::Stats stats = memory::domain().stats();
  return stats.held + stats.external;
}

class SpillTest : public ::testing::Test {
 protected:
  SpillOptions spill() const {
    return {.folder = folder.path(),
            .write_rate = 4'000'000'000,
            .fetch_rate = 4'000'000'000,
            .least = 4 * kKiB};
  }
  CompileOptions limited(Bytes limit) const {
    return {
        .arena_limit = limit, .spill = spill(), .passes = {.micro_batches = 1}};
  }
  files::TemporaryFolder folder;
};

Trained train(const CompileOptions& options, int layers = kLayers) {
  return train_chain(layers, kBatch, options);
}

TEST_F(SpillTest, TheSameBitsAtEveryLimit) {
  const Trained whole = train({});
  std::int64_t extra = 0;
  Bytes written = 0;
  for (const int percent : {95, 80, 65, 50, 40, 30}) {
    const Bytes limit = whole.arena * percent / 100;
    const Trained some = train(limited(limit));
    EXPECT_LE(some.arena, limit) << percent;
    EXPECT_EQ(some.losses, whole.losses) << percent;
    EXPECT_EQ(some.state, whole.state) << percent;
    EXPECT_TRUE(some.fitting.is_changed()) << percent;
    EXPECT_GE(some.fitting.extra, extra) << percent;  // never falls
    EXPECT_LE(some.fitting.bound, some.fitting.extra) << percent;
    EXPECT_LE(some.fitting.stalls, some.fitting.extra) << percent;
    extra = some.fitting.extra;
    written = std::max(written, some.fitting.written);
  }
  EXPECT_GT(written, 0);
}

TEST_F(SpillTest, AFileCostsNoMoreThanCallsThatRunAgain) {
  const Bytes limit = train({}).arena / 2;
  const Trained again =
      train({.arena_limit = limit, .passes = {.micro_batches = 1}});
  const Trained spilled = train(limited(limit));
  EXPECT_GT(again.fitting.again, 0U);
  EXPECT_LE(spilled.fitting.extra, again.fitting.extra);
  EXPECT_GT(spilled.fitting.spilled, 0U);
}

TEST_F(SpillTest, WithoutCallsThatRunAgain) {
  const Trained whole = train({});
  CompileOptions options = limited(whole.arena / 2);
  options.recompute = false;
  const Trained some = train(options);
  EXPECT_EQ(some.fitting.again, 0U);
  EXPECT_GT(some.fitting.spilled, 0U);
  EXPECT_EQ(some.losses, whole.losses);
  EXPECT_EQ(some.state, whole.state);
}

// A file has whole pages of the smallest value.
TEST_F(SpillTest, AFolderDoesNotRefuseWhatFitsWithoutIt) {
  const auto train_small = [&](const CompileOptions& options) {
    return train_chain(6, 3, options);
  };
  const Bytes limit = train_small({}).arena * 8 / 10;
  CompileOptions without = limited(limit);
  without.spill = {};
  const Trained again = train_small(without);
  CompileOptions with = limited(limit);
  with.spill.least = 64;
  const Trained some = train_small(with);
  EXPECT_LE(some.arena, limit);
  EXPECT_LE(some.fitting.extra, again.fitting.extra);
  EXPECT_EQ(some.losses, again.losses);
}

TEST_F(SpillTest, NoMoreIsWrittenThanMayBe) {
  const Bytes limit = train({}).arena / 2;
  CompileOptions none = limited(limit);
  none.spill.most_written = 0;
  EXPECT_EQ(train(none).fitting.spilled, 0U);
  CompileOptions some = limited(limit);
  some.spill.most_written = 2 * kBatch * kWidth * 4;
  EXPECT_LE(train(some).fitting.written, some.spill.most_written);
}

TEST_F(SpillTest, ADayOfRunsWritesNoMoreThanItMay) {
  const Bytes limit = train({}).arena / 2;
  CompileOptions options = limited(limit);
  const Bytes a_day = written_a_day(train(options).fitting);
  ASSERT_GT(a_day, 0);
  for (const Bytes most : {a_day / 2, Bytes{0}}) {
    options.spill.most_written_a_day = most;
    EXPECT_LE(written_a_day(train(options).fitting), most);
  }
}

TEST_F(SpillTest, PoisonGuardsPagesAndLentMemoryKeepTheBits) {
  const Trained whole = train({});
  const Bytes limit = whole.arena / 2;
  CompileOptions checked = limited(limit);
  checked.debug.poison = true;
  CompileOptions guarded = limited(limit + limit / 4);
  guarded.debug.poison = true;
  guarded.debug.guards = true;
  CompileOptions paged = limited(limit);
  paged.paged = true;
  std::vector<std::byte> memory(static_cast<std::size_t>(limit) + 100);
  CompileOptions lent = limited(limit);
  lent.memory = std::span(memory).subspan(1);
  for (const CompileOptions& options : {checked, guarded, paged, lent}) {
    const Trained some = train(options);
    EXPECT_GT(some.fitting.spilled, 0U);
    EXPECT_EQ(some.losses, whole.losses);
    EXPECT_EQ(some.state, whole.state);
  }
}

TEST_F(SpillTest, NothingIsLeftInTheFolder) {
  const Bytes limit = train({}).arena / 2;
  Net net;
  auto step = neap::compile(net.step(), limited(limit));
  step(ones({kBatch, kWidth}));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(SpillTest, AFolderThatDoesNotDoIsRefusedAndNothingHasChanged) {
  const Bytes limit = train({}).arena / 2;
  for (const char* path : {"/dev/shm", "/nowhere/at/all"}) {
    Net net;
    const auto before = net.state();
    CompileOptions options = limited(limit);
    options.spill.folder = path;
    auto step = neap::compile(net.step(), options);
    EXPECT_THROW(step(ones({kBatch, kWidth})), IoError) << path;
    EXPECT_EQ(net.state(), before);
    EXPECT_EQ(step.arena_bytes(), 0);
  }
}

TEST_F(SpillTest, RatesAreMeasuredWhereTheyAreNotGiven) {
  const Bytes limit = train({}).arena / 2;
  CompileOptions options = limited(limit);
  options.spill.write_rate = 0;
  options.spill.fetch_rate = 0;
  EXPECT_EQ(train(options).losses, train({}).losses);
}

// Counts the files that are as large as the one in which rates are measured.
class CountingDoor final : public files::ForwardingDoor {
 public:
  CountingDoor() : ForwardingDoor(files::system_door()) {}

  int measurements() const noexcept { return measurements_; }
  neap::Result<void> preallocate(files::File& file, Bytes offset,
                                 Bytes bytes) override {
    measurements_ += bytes == 64 * kMiB ? 1 : 0;
    return ForwardingDoor::preallocate(file, offset, bytes);
  }

 private:
  int measurements_ = 0;
};

TEST_F(SpillTest, RatesAreMeasuredOnceForAllShapes) {
  CountingDoor door;
  Net net;
  CompileOptions options = limited(train({}).arena / 2);
  options.spill.write_rate = 0;
  options.spill.fetch_rate = 0;
  options.spill.door = &door;
  auto step = neap::compile(net.step(), options);
  for (const std::int64_t less : {0, 8}) {
    step(ones({kBatch - less, kWidth}));
    EXPECT_TRUE(step.program().fitting.is_changed()) << less;
  }
  EXPECT_EQ(step.programs(), 2);
  EXPECT_EQ(door.measurements(), 1);
}

TEST_F(SpillTest, RatesAreMeasuredOnceForAllArenasThatABudgetTries) {
  CountingDoor door;
  Net net;
  // The arena is larger than what a measurement takes.
  const tensor::Spec large{DType::kF32, {4 * kBatch, kWidth}};
  const Bytes whole = neap::lower(net.step(), {large}).plan.arena_bytes();
  CompileOptions options{.spill = spill()};
  options.spill.write_rate = 0;
  options.spill.fetch_rate = 0;
  options.spill.door = &door;
  memory::domain().trim();
  options.budget = in_use() + whole;
  auto step = neap::compile(net.step(), options);
  step(ones({4 * kBatch, kWidth}));
  EXPECT_TRUE(step.program().fitting.is_changed());
  EXPECT_EQ(door.measurements(), 1);
}

TEST_F(SpillTest, WhatNeedsNoPlanMeasuresNothing) {
  CountingDoor door;
  Net net;
  CompileOptions options = limited(train({}).arena);
  options.spill.write_rate = 0;
  options.spill.door = &door;
  auto step = neap::compile(net.step(), options);
  step(ones({kBatch, kWidth}));
  EXPECT_EQ(door.measurements(), 0);
}

// Few layers, since each of these tests plans many times.
constexpr int kFew = 3;

// Every operation of the file fails from the n-th on, as on a disk that is
// gone: an error, with the state of before.
TEST_F(SpillTest, ADiskThatGoesIsATypedErrorAtEveryOperation) {
  CompileOptions options = limited(train({}, kFew).arena * 2 / 3);
  int refused = 0;
  for (std::int64_t n = 1;; ++n) {
    files::FaultDoor door(files::system_door(), {.stop_at = n});
    options.spill.door = &door;
    Net net(kFew);
    const auto before = net.state();
    auto step = neap::compile(net.step(), options);
    try {
      step(ones({kBatch, kWidth}));
      break;
    } catch (const IoError&) {
      EXPECT_EQ(net.state(), before) << n;
      ++refused;
    }
  }
  EXPECT_GT(refused, 5);
}

TEST_F(SpillTest, AnOperationThatFailsOnceIsDoneAgain) {
  const Trained whole = train({}, kFew);
  CompileOptions options = limited(whole.arena * 2 / 3);
  files::FaultDoor quiet(files::system_door());
  options.spill.door = &quiet;
  EXPECT_GT(train(options, kFew).fitting.spilled, 0U);
  Net net(kFew);
  const std::int64_t before = quiet.operations();
  auto step = neap::compile(net.step(), options);
  step.prepare({tensor::Spec{DType::kF32, {kBatch, kWidth}}});
  const std::int64_t prepared = quiet.operations() - before;
  for (std::int64_t n = prepared + 1; n < prepared + 12; ++n) {
    files::FaultDoor door(files::system_door(), {.fail_at = n});
    options.spill.door = &door;
    const Trained some = train(options, kFew);
    EXPECT_EQ(some.losses, whole.losses) << n;
    EXPECT_EQ(some.state, whole.state) << n;
  }
}

TEST_F(SpillTest, ABudgetIsMetWithAFile) {
  const Trained unlimited = train({});
  Net net;
  memory::domain().trim();
  const Bytes budget = in_use() + unlimited.arena * 3 / 5 + 600 * kKiB;
  auto step = neap::compile(
      net.step(),
      {.budget = budget, .spill = spill(), .passes = {.micro_batches = 1}});
  seed(2);
  std::vector<double> losses;
  for (int i = 0; i < 3; ++i) {
    losses.push_back(step(randn({kBatch, kWidth})).item());
    EXPECT_LE(in_use(), budget);
  }
  EXPECT_GT(step.program().fitting.spilled, 0U);
  EXPECT_EQ(losses, unlimited.losses);
}

TEST_F(SpillTest, TheProgramAndThePredictionSayWhatIsMoved) {
  const Bytes limit = train({}).arena / 2;
  Net net;
  auto step = neap::compile(net.step(), limited(limit));
  step.prepare({tensor::Spec{DType::kF32, {kBatch, kWidth}}});
  EXPECT_THAT(std::string(print(step.program())),
              AllOf(HasSubstr("spill slot 0(%"), HasSubstr("= fetch slot"),
                    HasSubstr("await slot")));
  EXPECT_THAT(std::string(format(step.prediction())),
              AllOf(HasSubstr("values spilled"), HasSubstr("spill file of "),
                    HasSubstr("B written")));
  EXPECT_THAT(std::string(to_json(step.prediction())),
              HasSubstr("\"written_bytes\""));
}

}  // namespace
}  // namespace neap::compiler
