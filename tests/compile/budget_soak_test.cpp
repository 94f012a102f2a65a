// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Every model in 80, 50, 30 and 20 % of its arena by each of the means alone
// and by all together, behind ./dev soak: the bits of a step without a limit,
// never a byte above the limit, and no request from the third run on.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <tuple>

#include "support/counting_malloc.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

constexpr int kSteps = 5;
constexpr int kQuietRuns = 3;

enum class Means : std::uint8_t { kRecompute, kPieces, kSpill, kAll };

const char* name_of(Means means) {
  switch (means) {
    case Means::kRecompute:
      return "Recompute";
    case Means::kPieces:
      return "Pieces";
    case Means::kSpill:
      return "Spill";
    case Means::kAll:
      return "All";
  }
  return "";
}

CompileOptions options_of(Means means, Bytes limit) {
  CompileOptions how{.arena_limit = limit};
  how.recompute = means == Means::kRecompute || means == Means::kAll;
  how.passes.pieces = means == Means::kPieces || means == Means::kAll ? 0 : 1;
  if (means == Means::kSpill || means == Means::kAll) {
    how.spill = {.folder = ".",
                 .write_rate = 1'000'000'000,
                 .fetch_rate = 1'000'000'000,
                 .least = 4 * kKiB};
  }
  return how;
}

std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

class BudgetSoak : public ::testing::TestWithParam<std::tuple<Kind, Means>> {
 protected:
  static TrainingOptions options() {
    return {.kind = std::get<0>(GetParam()),
            .batch = 16,
            .threads = 2,
            .host = memory::HostAllocator::kPooled};
  }
};

TEST_P(BudgetSoak, HasTheSameBitsWithinTheLimitAndAsksForNothing) {
  Bytes whole = 0;
  Trace plain;
  {
    Training training(options());
    auto step = training.compile();
    plain = train(training, step, kSteps);
    whole = step.arena_bytes();
  }
  int met = 0;
  for (const int percent : {80, 50, 30, 20}) {
    const Bytes limit = whole * percent / 100;
    Training training(options());
    auto step = training.compile(options_of(std::get<1>(GetParam()), limit));
    try {
      step.prepare(training.specs());
    } catch (const PlanError&) {
      continue;  // a smaller limit may be met by another order
    }
    ++met;
    EXPECT_LE(step.arena_bytes(), limit) << percent;
    EXPECT_GE(step.program().fitting.extra, step.program().fitting.bound);
    EXPECT_EQ(train(training, step, kSteps), plain) << percent;
    const auto batch = training.batch(0);
    const auto run = [&] { return step(batch.first, batch.second).item(); };
    run();
    const std::int64_t requests = training.domain().requests();
    const std::int64_t faults = page_faults();
    support::reset_outside_calls();
    for (int i = 0; i < kQuietRuns; ++i) {
      run();
    }
    EXPECT_EQ(support::outside_stats().heap_calls, 0) << percent;
    EXPECT_EQ(support::outside_stats().map_calls, 0) << percent;
    EXPECT_EQ(page_faults(), faults) << percent;
    EXPECT_EQ(training.domain().requests(), requests) << percent;
  }
  RecordProperty("limits met", met);
}

INSTANTIATE_TEST_SUITE_P(
    EveryModel, BudgetSoak,
    ::testing::Combine(::testing::ValuesIn(kEveryModel),
                       ::testing::Values(Means::kRecompute, Means::kPieces,
                                         Means::kSpill, Means::kAll)),
    [](const auto& one) {
      return std::string(name_of(std::get<0>(one.param))) +
             name_of(std::get<1>(one.param));
    });

}  // namespace
}  // namespace neap::tests
