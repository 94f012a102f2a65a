// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A budget is exact: what a model's training was seen to hold at most is enough
// for it, to the same bits. Of less a step is refused, with everything as it
// was: eagerly by the first byte.
//
// The domain frees idle pages before it refuses, so the peak of a run that
// kept some is more than it needs. Where none are kept it is all that is
// needed.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "neap/base/external.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/memory/budget.hpp"
#include "trained_model.hpp"

namespace neap::tests {
namespace {

// Every size of batch has come, and every state is made.
constexpr int kWarm = 2 * TrainedModel::kEpoch;
constexpr int kSteps = base::kAddressSanitizer ? 3 * kWarm : 200;

struct Seen {
  Bytes held = 0;  // at most
  Bytes all = 0;   // with what is external, the stack of the data's reader too
  std::uint64_t hash = 0;
  friend bool operator==(const Seen&, const Seen&) = default;
};

class BudgetTest : public ::testing::TestWithParam<ModelAndMode> {
 protected:
  static Domain::Handle make_domain(Bytes idle_limit) {
    return Domain::create({.name = "budget", .idle_limit = idle_limit});
  }
  static TrainedModelOptions options() {
    return {.kind = std::get<0>(GetParam()),
            .is_compiled = std::get<1>(GetParam()),
            .prefetch = 2};
  }

  static Seen train(int steps, Bytes idle_limit, Bytes budget = kUnlimited) {
    const auto domain = make_domain(idle_limit);
    std::optional<Budget> guard(std::in_place, budget, *domain);
    TrainedModel run(*domain, options());
    run.steps(steps);
    const Bytes held = domain->stats().peak;
    guard.reset();  // a hash is no part of a training
    return {held, held + base::external_bytes(), run.hash()};
  }

  struct Refused {
    Bytes budget;
    int step;  // the first that is refused
  };
  // The first budget below `whole` that refuses a step. A compiled step fits
  // less than it was seen to hold: its programs make room for one another, and
  // give the same bits.
  static std::optional<Refused> refused_below(const Seen& whole) {
    for (Bytes budget = whole.all - 1; budget > whole.all - whole.held;
         budget -= whole.held / 16) {
      const auto domain = make_domain(0);
      std::optional<Budget> guard(std::in_place, budget, *domain);
      TrainedModel run(*domain, options());
      for (int i = 0; i < kWarm; ++i) {
        try {
          run.step();
        } catch (const OutOfMemory&) {
          return Refused{budget, i};
        }
      }
      guard.reset();
      EXPECT_TRUE(options().is_compiled) << budget;
      EXPECT_LT(domain->stats().peak, whole.held);
      EXPECT_EQ(run.hash(), whole.hash);
    }
    return {};
  }
};

TEST_P(BudgetTest, OfTheMeasuredPeakIsEnough) {
  const Seen whole = train(kSteps, 0);
  EXPECT_EQ(train(kWarm, 0).held, whole.held);
  EXPECT_EQ(train(kSteps, 0, whole.all), whole);
}

TEST_P(BudgetTest, OfTheMeasuredPeakIsEnoughWithIdlePages) {
  const Seen whole = train(kSteps, kUnlimited);
  EXPECT_EQ(train(kSteps, kUnlimited, whole.all), whole);
}

// A step that is refused for want of room.
void expect_refused(TrainedModel& run, Bytes budget) {
  const Budget guard(budget, run.domain());
  try {
    run.step();
    ADD_FAILURE() << "no error";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.details().reason, OutOfMemory::Reason::kBudget);
  }
}

// Live bytes and blocks of each category.
using Live = std::map<memory::Category, std::pair<Bytes, std::int64_t>>;

Live live(const TrainedModel& run) {
  const memory::Domain& domain = run.domain();
  std::vector<memory::Row> rows(static_cast<std::size_t>(domain.live_rows({})));
  domain.live_rows(rows);
  Live out;
  for (const memory::Row& row : rows) {
    out[row.tag.category].first += row.bytes;
    out[row.tag.category].second += row.blocks;
  }
  return out;
}

TEST_P(BudgetTest, OfLessIsRefusedAndLeavesEverything) {
  const Seen whole = train(kWarm, 0);
  const auto at = refused_below(whole);
  ASSERT_TRUE(at.has_value());
  const auto domain = make_domain(0);
  {
    TrainedModel run(*domain, options());
    {
      const Budget guard(at->budget, *domain);
      run.steps(at->step);
    }
    const std::uint64_t hash = run.hash();
    const Live before = live(run);
    domain->reset_peak();
    expect_refused(run, at->budget);
    EXPECT_LT(domain->stats().peak, whole.held);
    EXPECT_EQ(live(run), before);
    EXPECT_TRUE(domain->is_consistent());
    EXPECT_EQ(run.hash(), hash);
    for (const Parameter& each : run.layer().parameters()) {
      EXPECT_FALSE(each.tensor.grad().defined());
    }
    {
      const Budget guard(whole.all, *domain);
      run.steps(kWarm - at->step);
    }
    EXPECT_EQ(run.hash(), whole.hash);
  }
  EXPECT_EQ(domain->stats().live, 0);
}

INSTANTIATE_TEST_SUITE_P(All, BudgetTest, all_models(), model_and_mode);

}  // namespace
}  // namespace neap::tests
