// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The same problem and work give the same plan on every machine and in every
// build: a digest of what each method answers to many problems, beside what it
// answered when the row was written. A row that differs says that plans have
// changed: heights, proofs, offsets, or the steps that were spent. Whether they
// are good is for the other tests; where the change is wanted, the row takes
// the digest that the failure prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "neap/planner/exact.hpp"
#include "neap/planner/local_search.hpp"
#include "neap/planner/lower_bound.hpp"
#include "neap/planner/page_groups.hpp"
#include "neap/planner/paged.hpp"
#include "neap/planner/problems_for_test.hpp"

namespace neap::planner {
namespace {

// FNV-1a over the bytes of numbers and texts.
class Digest {
 public:
  void add(std::int64_t number) noexcept {
    for (int byte = 0; byte < 8; ++byte) {
      add_byte(static_cast<std::uint64_t>(number) >> (8 * byte));
    }
  }
  void add(std::string_view text) noexcept {
    for (const char c : text) {
      add_byte(static_cast<unsigned char>(c));
    }
    add(static_cast<std::int64_t>(text.size()));
  }
  template <class Number>
  void add(const memory::Vector<Number>& numbers) noexcept {
    for (const Number number : numbers) {
      add(std::int64_t{number});
    }
    add(static_cast<std::int64_t>(numbers.size()));
  }
  void add(const Plan& plan) noexcept {
    add(plan.offsets);
    add(plan.height);
    add(std::string_view(plan.method));
  }
  void add(const Solution& solution) noexcept {
    add(solution.offsets);
    add(solution.height);
    add(solution.lower_bound);
    add(solution.is_proven ? 1 : 0);
    add(std::string_view(solution.method));
    add(solution.work);
  }
  void add(const Paging& paging) noexcept {
    add(paging.pages);
    add(paging.address_pages);
    add(paging.addresses);
    for (const PageView& view : paging.views) {
      add(view.at);
      add(view.from);
      add(view.count);
    }
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  void add_byte(std::uint64_t byte) noexcept {
    value_ = (value_ ^ (byte & 0xFFU)) * 0x100000001B3U;
  }
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

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
    digest.add(greedy(timeline, Orders(timeline), 0, effort));
    digest.add(effort.spent());
  }
}

// Each method of the portfolio's own: an order, placed in each of three ways.
void placements(Digest& digest, const Problem& problem) {
  for (const Timeline& timeline : split_by_time(problem)) {
    const Orders orders(timeline);
    memory::Vector<std::int32_t> order(timeline.items.size());
    memory::Vector<std::int64_t> offsets(timeline.items.size());
    Placer placer(timeline);
    for (int by = 0; by < kOrders && placer.is_possible(); ++by) {
      orders.sort(static_cast<Order>(by), order);
      digest.add(order);
      for (const Fit fit : {Fit::kLowest, Fit::kTightest, Fit::kHighest}) {
        const memory::Vector<Fit> fits(order.size(), fit);
        const std::size_t stuck =
            placer.place(order, fits, 4 * placer.fixed_height() + 1000, 0);
        digest.add(static_cast<std::int64_t>(stuck));
        digest.add(placer.height());
        digest.add(placer.take_steps());
        if (stuck == order.size()) {
          placer.write_offsets(offsets);
          digest.add(offsets);
        }
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
      digest.add(improve(timeline, orders, std::move(first), {bound, 1, steps},
                         effort));
      digest.add(effort.spent());
    }
  }
}

void exact_plans(Digest& digest, const Problem& problem, std::int64_t work) {
  const std::int64_t bound = lower_bound(problem).height;
  digest.add(exact(problem, {.work = work}));
  digest.add(exact(problem, {.work = work, .incumbent = bound + bound / 8}));
  digest.add(exact(problem, {.work = work,
                             .first_target = bound + bound / 16,
                             .good_enough = bound + bound / 32}));
}

void pages(Digest& digest, const Problem& problem, std::int64_t page_size) {
  const PageGroups groups = group_pages(problem, page_size, {.work = 2000});
  digest.add(groups.group_of);
  digest.add(groups.at);
  digest.add(assign_pages(problem, page_size, {.work = 2000}));
  digest.add(
      assign_pages(problem, page_size, {.work = 1}, PageChoice::kScattered));
}

struct Row {
  const char* name;
  void (*add)(Digest& digest);
  std::uint64_t expected;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.name;
}

template <class Visit>
void for_seeds(std::uint32_t count, Visit visit) {
  for (std::uint32_t seed = 0; seed < count; ++seed) {
    visit(seed);
  }
}

const Row kRows[] = {
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
    {"SolveWithAliases",
     [](Digest& digest) {
       for_seeds(20, [&](std::uint32_t seed) {
         digest.add(solve(aliased_problem(seed, kMiddle), {.work = 600'000}));
         digest.add(solve(mixed_problem(seed, kMiddle), {.work = 600'000}));
         digest.add(solve(training_problem(seed, 20), {.work = 600'000}));
       });
     },
     0x22D8CF3DE73EA7D4},
    {"SolveOfLarge",
     [](Digest& digest) {
       digest.add(solve(random_problem(7, kHard), {.work = 600'000}));
       digest.add(solve(random_problem(3, {.buffers = 650,
                                           .instants = 400,
                                           .longest = 90,
                                           .largest = 100}),
                        {.work = 600'000}));
       digest.add(solve(recomputation_problem(1, 300, 40), {.work = 600'000}));
     },
     0x1522B76DB9284C2A},
    {"Pages",
     [](Digest& digest) {
       for_seeds(20, [&](std::uint32_t seed) {
         pages(digest, random_problem(seed, kMiddle), 32);
         pages(digest, training_problem(seed, 20), 1024);
       });
     },
     0xA218600D4713F29A},
};

class SamePlansTest : public testing::TestWithParam<Row> {};

TEST_P(SamePlansTest, AsWhenTheRowWasWritten) {
  Digest digest;
  GetParam().add(digest);
  EXPECT_EQ(digest.value(), GetParam().expected)
      << std::hex << "the row's digest is now 0x" << digest.value();
}

INSTANTIATE_TEST_SUITE_P(Methods, SamePlansTest, testing::ValuesIn(kRows),
                         [](const auto& each) {
                           return std::string(each.param.name);
                         });

}  // namespace
}  // namespace neap::planner
