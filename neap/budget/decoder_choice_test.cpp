// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The choice of a value to drop passes over values whose rank is known to be
// too high: the walk is that of a plain choice, which computes all ranks, step
// for step, closures that are collected included.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "neap/budget/decoder.hpp"
#include "neap/budget/ladder.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"

namespace neap::budget {
namespace {

constexpr std::int64_t kAnything = std::int64_t{1} << 40U;

// Numbers that a walk is told by: all of its schedule, and its effort.
std::vector<std::int64_t> walk(Decoder& decoder, bool is_plain,
                               std::int64_t target, const Ranking& ranking) {
  decoder.set_plain(is_plain);
  const Decoded* decoded = decoder.decode(target, ranking, kAnything);
  std::vector<std::int64_t> out{decoder.work()};
  if (decoded != nullptr) {
    out.push_back(decoded->price);
    for (const Run& run : decoded->schedule.runs) {
      out.insert(out.end(), {run.index, run.drops_end,
                             static_cast<std::int64_t>(run.action)});
    }
    out.insert(out.end(), decoded->schedule.drops.begin(),
               decoded->schedule.drops.end());
  }
  return out;
}

class Choice {
 public:
  Choice(const Problem& problem, std::uint32_t seed)
      : decoder_(problem),
        random_(seed),
        full_(full_memory(problem)),
        bias_(problem.values.size()),
        means_(problem.values.size()) {
    for (std::size_t v = 0; v < bias_.size(); ++v) {
      bias_[v] = (below(5) - 2) * 256;
      means_[v] = static_cast<Means>(below(3));
    }
  }

  // RETURNS: how many of the walks made a schedule.
  int compare(int walks) {
    int found = 0;
    for (; walks > 0; --walks) {
      Ranking ranking{
          .price = 1 + below(2), .size = below(5), .time = below(5)};
      ranking.channel =
          std::array{1, 0, 4, kNoFile}.at(static_cast<std::size_t>(below(4)));
      ranking.keeps_helpers = below(2) == 0;
      if (below(2) == 0) {
        ranking.bias = bias_;
        ranking.means = means_;
      }
      const std::int64_t target = full_ * (40 + below(58)) / 100;
      const auto plain = walk(decoder_, true, target, ranking);
      EXPECT_EQ(walk(decoder_, false, target, ranking), plain) << target;
      found += plain.size() > 1 ? 1 : 0;
    }
    return found;
  }

 private:
  std::int32_t below(std::uint32_t n) {
    return static_cast<std::int32_t>(random_() % n);
  }

  Decoder decoder_;
  std::mt19937 random_;
  std::int64_t full_;
  std::vector<std::int32_t> bias_;
  std::vector<Means> means_;
};

void add_random_helpers(Problem& problem, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (Value& value : problem.values) {
    if (random() % 4 == 0) {
      value.helps_until = static_cast<std::int32_t>(
          random() % static_cast<std::uint32_t>(problem.calls.size()));
    }
  }
}

// With a channel, helpers, both and neither.
int compare_all(Problem problem, std::uint32_t seed, int walks) {
  if (seed % 2 == 1) {
    add_random_channel(problem, seed);
  }
  if (seed / 2 % 2 == 1) {
    add_random_helpers(problem, seed);
  }
  return Choice(problem, seed).compare(walks);
}

TEST(DecoderChoiceTest, IsThatOfAPlainOneForRandomProblems) {
  int found = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    found += compare_all(
        random_problem(
            seed, {.calls = 10 + static_cast<int>(seed % 50), .outputs = 2}),
        seed, 12);
  }
  EXPECT_GT(found, 800);
}

TEST(DecoderChoiceTest, IsThatOfAPlainOneForStepsOfTraining) {
  int found = 0;
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    found += compare_all(chain(40), seed, 20);
    found += compare_all(cells(30), seed, 20);
  }
  EXPECT_GT(found, 150);
}

}  // namespace
}  // namespace neap::budget
