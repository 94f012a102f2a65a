// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/decoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "neap/budget/evaluate.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"

namespace neap::budget {
namespace {

constexpr std::int64_t kAnything = std::int64_t{1} << 40U;

std::int64_t peak_of_all(const Problem& problem) {
  Decoder decoder(problem);
  const Decoded* all = decoder.decode(kAnything, {}, kAnything);
  EXPECT_EQ(all->price, 0);
  EXPECT_EQ(all->schedule.runs.size(), problem.calls.size());
  const Evaluation found = evaluate(problem, all->schedule);
  EXPECT_TRUE(found.is_good()) << name_of(found.fault);
  return found.peak;
}

// Schedules of some rankings within a target, beside evaluate().
void expect_right(const Problem& problem, Decoder& decoder,
                  std::int64_t target) {
  for (int size = 0; size <= 4; ++size) {
    const Decoded* decoded = decoder.decode(
        target, {.price = 1 + size % 2, .size = size, .time = 4 - size},
        kAnything);
    if (decoded != nullptr) {
      const Evaluation found = evaluate(problem, decoded->schedule);
      ASSERT_TRUE(found.is_good()) << name_of(found.fault);
      ASSERT_LE(found.peak, target);
      ASSERT_EQ(found.price, decoded->price);
    }
  }
}

TEST(DecoderTest, EveryScheduleIsWhatItSaysItIs) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Problem problem = random_problem(seed, {.calls = 12, .outputs = 2});
    Decoder decoder(problem);
    for (std::int64_t target = peak_of_all(problem); target > 0; --target) {
      ASSERT_NO_FATAL_FAILURE(expect_right(problem, decoder, target)) << seed;
    }
  }
}

TEST(DecoderTest, WhatNobodyNeedsIsDroppedFirst) {
  const Problem problem = chain(4);
  EXPECT_EQ(peak_of_all(problem), 6);  // five layers' inputs, one gradient
}

TEST(DecoderTest, AChainIsBroughtBackPieceByPiece) {
  const Problem problem = chain(16);
  Decoder decoder(problem);
  const Decoded* decoded = decoder.decode(9, {}, kAnything);
  ASSERT_NE(decoded, nullptr);
  const Evaluation found = evaluate(problem, decoded->schedule);
  EXPECT_LE(found.peak, 9);
  EXPECT_LE(found.price, 16);  // no layer more than once again
}

// Gradients of weights come last, so that each gradient of gates is brought
// back by those of all later cells.
TEST(DecoderTest, AWalkThatThrashesEnds) {
  Problem problem = cells(300);
  std::stable_partition(problem.calls.begin() + 303, problem.calls.end(),
                        [](const Call& call) { return call.price == 25; });
  Decoder decoder(problem);
  const std::int64_t most =
      Decoder::kMostWork +
      Decoder::kMostWorkACall * static_cast<std::int64_t>(problem.calls.size());
  const std::int64_t full = peak_of_all(problem);
  std::int64_t work = 0;
  for (std::int64_t percent = 30; percent < 90; percent += 10) {
    if (decoder.decode(full * percent / 100, {}, kAnything) != nullptr) {
      EXPECT_LE(decoder.work(), most) << percent;
    }
    work = std::max(work, decoder.work());
  }
  EXPECT_GT(work, most);
  EXPECT_LE(work, 2 * most);
}

TEST(DecoderTest, EndsWhereThePriceIsNotBelow) {
  const Problem problem = chain(8);
  Decoder decoder(problem);
  const std::int64_t price = decoder.decode(6, {}, kAnything)->price;
  ASSERT_GT(price, 0);
  EXPECT_EQ(decoder.decode(6, {}, price), nullptr);
  EXPECT_NE(decoder.decode(6, {}, price + 1), nullptr);
}

TEST(DecoderTest, BiasAndPinsSteerIt) {
  // Two values that are needed late, and one of which must go.
  Problem problem;
  problem.values = {{.size = 4}, {.size = 4}, {.size = 4}, {.size = 1}};
  const auto call = [](memory::Vector<std::int32_t> reads, std::int32_t makes) {
    return Call{.reads = std::move(reads),
                .makes = {makes},
                .take_overs = {},
                .price = 10,
                .scratch = 0,
                .again_until = kAlways};
  };
  problem.calls = {call({}, 0), call({}, 1), call({}, 2)};
  problem.calls.push_back(call({2}, 3));
  problem.calls[3].scratch = 0;
  problem.values.push_back({.size = 1, .outlives = true});
  problem.calls.push_back(call({0, 1, 3}, 4));
  Decoder decoder(problem);
  const auto again = [&](const Ranking& ranking) {
    const Decoded* decoded = decoder.decode(10, ranking, kAnything);
    return decoded == nullptr ? -1 : decoded->schedule.runs[4].index;
  };
  const std::vector<std::int32_t> first = {-2560, 0, 0, 0, 0};
  const std::vector<std::int32_t> second = {0, -2560, 0, 0, 0};
  EXPECT_EQ(again({.bias = first}), 0);
  EXPECT_EQ(again({.bias = second}), 1);
  const std::vector<std::int32_t> kept = {4, 0, 0, 0, 0};
  EXPECT_EQ(again({.bias = first, .kept_until = kept}), 1);
}

}  // namespace
}  // namespace neap::budget
