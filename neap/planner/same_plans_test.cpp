// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The same problem and work give the same plan on every machine and in every
// build: a digest of what each method answers to many problems, beside what it
// answered when the row was written. A row that differs says that plans have
// changed: heights, proofs, offsets, or the steps that were spent. Whether they
// are good is for the other tests; where the change is wanted, the row takes
// the digest that the failure prints.
#include <gtest/gtest.h>

#include <algorithm>

#include "neap/base/digest_for_test.hpp"
#include "neap/planner/exact.hpp"
#include "neap/planner/local_search.hpp"
#include "neap/planner/lower_bound.hpp"
#include "neap/planner/page_groups.hpp"
#include "neap/planner/paged.hpp"
#include "neap/planner/problems_for_test.hpp"

namespace neap::planner {
namespace {

using base::Digest;

void add(Digest& digest, const Plan& plan) noexcept {
  digest.add_all(plan.offsets);
  digest.add(plan.height);
  digest.add(std::string_view(plan.method));
}

void add(Digest& digest, const Solution& solution) noexcept {
  digest.add_all(solution.offsets);
  digest.add(solution.height);
  digest.add(solution.lower_bound);
  digest.add(solution.is_proven ? 1 : 0);
  digest.add(std::string_view(solution.method));
  digest.add(solution.work);
}

void add(Digest& digest, const Paging& paging) noexcept {
  digest.add(paging.pages);
  digest.add(paging.address_pages);
  digest.add_all(paging.addresses);
  for (const PageView& view : paging.views) {
    digest.add(view.at);
    digest.add(view.from);
    digest.add(view.count);
  }
}

constexpr RandomShape kTiny = {
    .buffers = 9, .instants = 8, .longest = 5, .largest = 6};
constexpr RandomShape kMiddle = {
    .buffers = 50, .instants = 30, .longest = 15, .largest = 100};
constexpr RandomShape kLoose = {
    .buffers = 60, .instants = 200, .longest = 12, .largest = 40, .unit = 16};
constexpr RandomShape kHard = {
    .buffers = 120, .instants = 50, .longest = 20, .largest = 1000};
constexpr RandomShape kCrowded = {
    .buffers = 200, .instants = 60, .longest = 50, .largest = 1000};

// Fixed offsets and alignments here and there, now and then a capacity.
Problem mixed_problem(std::uint32_t seed, const RandomShape& shape) {
  Problem problem = random_problem(seed, shape);
  std::mt19937 random(seed ^ 0x5EEDU);
  for (Buffer& b : problem.buffers) {
    b.alignment = std::int64_t{1} << (random() % 4);
    if (random() % 8 == 0) {
      b.fixed = static_cast<std::int64_t>(random() % 16) * b.alignment * 4;
    }
  }
  if (seed % 3 == 0) {
    problem.capacity = lower_bound(problem).height + seed % 7;
    for (const Buffer& b : problem.buffers) {
      problem.capacity = std::max(problem.capacity, b.fixed + b.size);
    }
  }
  return problem;
}

// Some buffers lie inside others.
Problem aliased_problem(std::uint32_t seed, const RandomShape& shape) {
  Problem problem = random_problem(seed, shape);
  std::mt19937 random(seed ^ 0xA11A5U);
  const auto half = problem.buffers.size() / 2;
  for (std::size_t i = half; i < problem.buffers.size(); ++i) {
    Buffer& b = problem.buffers[i];
    const std::size_t of = random() % half;
    if (random() % 2 == 0 && b.size <= problem.buffers[of].size) {
      b.alias_of = static_cast<std::int32_t>(of);
      b.alias_at = (problem.buffers[of].size - b.size) / 2;
    }
  }
  return problem;
}

void greedy_plans(Digest& digest, const Problem& problem) {
  for (const Timeline& timeline : split_by_time(problem)) {
    Effort effort(kNoLimit, 0);
    add(digest, greedy(timeline, Orders(timeline), 0, effort));
    digest.add(effort.spent());
  }
}

void place(Digest& digest, Placer& placer, std::span<const std::int32_t> order,
           Fit fit) {
  const memory::Vector<Fit> fits(order.size(), fit);
  const std::size_t stuck =
      placer.place(order, fits, 4 * placer.fixed_height() + 1000, 0);
  digest.add(static_cast<std::int64_t>(stuck));
  digest.add(placer.height());
  digest.add(placer.take_steps());
  if (stuck == order.size()) {
    memory::Vector<std::int64_t> offsets(order.size());
    placer.write_offsets(offsets);
    digest.add_all(offsets);
  }
}

// Each method of the portfolio's own: an order, placed in each of three ways.
void placements(Digest& digest, const Problem& problem) {
  for (const Timeline& timeline : split_by_time(problem)) {
    const Orders orders(timeline);
    memory::Vector<std::int32_t> order(timeline.items.size());
    Placer placer(timeline);
    for (int by = 0; by < kOrders && placer.is_possible(); ++by) {
      orders.sort(static_cast<Order>(by), order);
      digest.add_all(order);
      for (const Fit fit : {Fit::kLowest, Fit::kTightest, Fit::kHighest}) {
        place(digest, placer, order, fit);
      }
    }
  }
}

void improved_plans(Digest& digest, const Problem& problem,
                    std::int64_t steps) {
  const std::int64_t bound = lower_bound(problem).height;
  for (const Timeline& timeline : split_by_time(problem)) {
    const Orders orders(timeline);
    Effort none(1, 0);
    Effort effort(kNoLimit, 0);
    Plan first = greedy(timeline, orders, bound, none);
    if (!first.offsets.empty()) {
      add(digest, improve(timeline, orders, std::move(first), {bound, 1, steps},
                          effort));
      digest.add(effort.spent());
    }
  }
}

void exact_plans(Digest& digest, const Problem& problem, std::int64_t work) {
  const std::int64_t bound = lower_bound(problem).height;
  add(digest, exact(problem, {.work = work}));
  add(digest, exact(problem, {.work = work, .incumbent = bound + bound / 8}));
  add(digest, exact(problem, {.work = work,
                              .first_target = bound + bound / 16,
                              .good_enough = bound + bound / 32}));
}

void pages(Digest& digest, const Problem& problem, std::int64_t page_size) {
  const PageGroups groups = group_pages(problem, page_size, {.work = 2000});
  digest.add_all(groups.group_of);
  digest.add_all(groups.at);
  add(digest, assign_pages(problem, page_size, {.work = 2000}));
  add(digest,
      assign_pages(problem, page_size, {.work = 1}, PageChoice::kScattered));
}

template <class Visit>
void for_seeds(std::uint32_t count, Visit visit) {
  for (std::uint32_t seed = 0; seed < count; ++seed) {
    visit(seed);
  }
}

const base::DigestRow kRows[] = {
    {"GreedyOfRandom",
     [](Digest& digest) {
       for_seeds(60, [&](std::uint32_t seed) {
         greedy_plans(digest, random_problem(seed, kMiddle));
         greedy_plans(digest, mixed_problem(seed, kLoose));
       });
     },
     0x73C4FC4CDE093F39},
    {"GreedyOfTraining",
     [](Digest& digest) {
       for_seeds(20, [&](std::uint32_t seed) {
         greedy_plans(digest, training_problem(seed, 40, seed % 2 == 0));
         greedy_plans(digest, recomputation_problem(seed, 40, 30));
       });
     },
     0x201CB007357F7658},
    {"Placements",
     [](Digest& digest) {
       for_seeds(20, [&](std::uint32_t seed) {
         placements(digest, random_problem(seed, kMiddle));
         placements(digest, mixed_problem(seed, kLoose));
       });
       placements(digest, random_problem(1, kCrowded));
     },
     0xC065AC72D70B8526},
    {"Improved",
     [](Digest& digest) {
       for_seeds(10, [&](std::uint32_t seed) {
         improved_plans(digest, random_problem(seed, kMiddle), 100'000);
         improved_plans(digest, mixed_problem(seed, kLoose), 100'000);
         improved_plans(digest, random_problem(seed, kHard), 50'000);
       });
     },
     0xBCAAC6D6C14A9F19},
    {"ExactOfTiny",
     [](Digest& digest) {
       for_seeds(200, [&](std::uint32_t seed) {
         exact_plans(digest, random_problem(seed, kTiny), 20'000);
         exact_plans(digest, mixed_problem(seed, kTiny), 20'000);
       });
     },
     0x114DED4F29AA8E66},
    {"ExactOfRandom",
     [](Digest& digest) {
       for_seeds(10, [&](std::uint32_t seed) {
         exact_plans(digest, random_problem(seed, kMiddle), 20'000);
         exact_plans(digest, mixed_problem(seed, kMiddle), 20'000);
         exact_plans(digest, mixed_problem(seed, kLoose), 20'000);
       });
     },
     0x5DB6F119E22CA802},
    {"ExactOfCrowded",
     [](Digest& digest) {
       exact_plans(digest, random_problem(1, kCrowded), 300'000);
       exact_plans(digest, random_problem(2, kHard), 100'000);
       exact_plans(digest, mixed_problem(4, kHard), 100'000);
       exact_plans(
           digest,
           random_problem(
               2,
               {.buffers = 700, .instants = 60, .longest = 50, .largest = 9}),
           6000);
     },
     0x5DFB400203C15049},
    {"ExactOfMany",
     [](Digest& digest) {
       const Problem problem = random_problem(
           4,
           {.buffers = 3000, .instants = 3000, .longest = 40, .largest = 1000});
       exact_plans(digest, problem, 8000);
     },
     0x99BDEDF058B691BC},
    {"SolveUntilGoodEnough",
     [](Digest& digest) {
       for_seeds(20, [&](std::uint32_t seed) {
         const Problem problem = random_problem(seed, kHard);
         const std::int64_t bound = lower_bound(problem).height;
         for (const std::int64_t share : {16, 64, 256}) {
           add(digest, solve(problem, {.work = 20'000,
                                       .good_enough = bound + bound / share}));
         }
       });
     },
     0xCB274060981BA0DC},
    {"SolveWithAliases",
     [](Digest& digest) {
       for_seeds(20, [&](std::uint32_t seed) {
         add(digest, solve(aliased_problem(seed, kMiddle), {.work = 600'000}));
         add(digest, solve(mixed_problem(seed, kMiddle), {.work = 600'000}));
         add(digest, solve(training_problem(seed, 20), {.work = 600'000}));
       });
     },
     0x22D8CF3DE73EA7D4},
    {"SolveOfLarge",
     [](Digest& digest) {
       add(digest, solve(random_problem(7, kHard), {.work = 600'000}));
       add(digest, solve(random_problem(3, {.buffers = 650,
                                            .instants = 400,
                                            .longest = 90,
                                            .largest = 100}),
                         {.work = 600'000}));
       add(digest, solve(recomputation_problem(1, 300, 40), {.work = 600'000}));
     },
     0x1522B76DB9284C2A},
    {"SolveOfLongLived",  // too long for the exact solver's tables
     [](Digest& digest) {
       Problem problem = random_problem(1, {.buffers = 2400,
                                            .instants = 3000,
                                            .longest = 2000,
                                            .largest = 1000});
       for (std::size_t i = 0; i < problem.buffers.size(); i += 2) {
         Buffer& b = problem.buffers[i];
         b.upper = b.lower + 1 + static_cast<std::int64_t>(i % 50);
       }
       add(digest, solve(problem, {.work = 1'000'000}));
     },
     0x0F8C948D41E14FF4},
    {"Pages",
     [](Digest& digest) {
       for_seeds(20, [&](std::uint32_t seed) {
         pages(digest, random_problem(seed, kMiddle), 32);
         pages(digest, training_problem(seed, 20), 1024);
         pages(digest, random_problem(seed, kTiny), 2);
         pages(digest, random_problem(seed, kHard), 100);
       });
     },
     0xF78BDE306141BCEC},
};

class SamePlansTest : public testing::TestWithParam<base::DigestRow> {};

TEST_P(SamePlansTest, AsWhenTheRowWasWritten) {
  base::expect_as_written(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Methods, SamePlansTest, testing::ValuesIn(kRows),
                         base::name_of_row);

}  // namespace
}  // namespace neap::planner
