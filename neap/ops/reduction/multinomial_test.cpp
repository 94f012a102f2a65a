// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/multinomial.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "neap/base/philox.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// The number of each sample or position in the first draw of the row's seed.
double uniform_of(std::size_t i) {
  const base::PhiloxBlock words = base::DrawKey{7, 0}.block(i);
  return base::uniform_f64(words[0], words[1]);
}

// The first position whose running sum exceeds that share of the whole.
std::int64_t position_of(std::span<const double> weights, double share) {
  double whole = 0.0;
  for (const double weight : weights) {
    whole += weight;
  }
  const double at = share * whole;
  double sum = 0.0;
  std::int64_t j = 0;
  for (const double weight : weights) {
    sum += weight;
    if (sum > at) {
      break;
    }
    ++j;
  }
  return j;
}

// The positions of uniform numbers, so many a row of weights.
Reference by_sums(std::int64_t count) {
  return [=](std::span<const HostArray> x) {
    const auto n = static_cast<std::size_t>(x[0].shape.back());
    std::vector<double> y;
    for (std::size_t at = 0; at < x[0].values.size(); at += n) {
      const auto weights = std::span(x[0].values).subspan(at, n);
      for (std::int64_t k = 0; k < count; ++k) {
        y.push_back(
            static_cast<double>(position_of(weights, uniform_of(y.size()))));
      }
    }
    return y;
  };
}

// The positions in order of arrival.
Reference by_arrival(std::int64_t count) {
  return [=](std::span<const HostArray> x) {
    const auto n = static_cast<std::size_t>(x[0].shape.back());
    std::vector<double> y;
    for (std::size_t first = 0; first < x[0].values.size(); first += n) {
      std::multimap<double, std::size_t> arrivals;
      for (std::size_t j = 0; j < n; ++j) {
        const double clock = -std::log1p(-uniform_of(first + j));
        arrivals.emplace(clock / x[0].values[first + j], j);
      }
      auto next = arrivals.begin();
      for (std::int64_t k = 0; k < count; ++k, ++next) {
        y.push_back(static_cast<double>(next->second));
      }
    }
    return y;
  };
}

OpFunction drawn(std::int64_t count, bool replacement) {
  return [=](Inputs x) { return multinomial(x[0], count, replacement); };
}

ErrorRow error(const char* name, std::vector<double> weights,
               std::int64_t count, bool replacement, const char* says) {
  const auto n = static_cast<std::int64_t>(weights.size());
  return {.name = name,
          .fn = drawn(count, replacement),
          .inputs = {literal({n}, std::move(weights))},
          .error = typeid(ValueError),
          .says = says};
}

OpTable multinomial_table() {
  OpTable table{.name = "multinomial"};
  table.rows = {{.name = "with replacement",
                 .fn = drawn(9, true),
                 .inputs = {positive({3, 5})},
                 .reference = by_sums(9),
                 .shape = Shape{3, 9},
                 .zero_size = {{{0, 5}}},
                 .differentiable = false},
                {.name = "many of one row",
                 .fn = drawn(3000, true),
                 .inputs = {integers({40}, 0, 3)},
                 .reference = by_sums(3000),
                 .differentiable = false},
                {.name = "without replacement",
                 .fn = drawn(4, false),
                 .inputs = {positive({2, 3, 7})},
                 .reference = by_arrival(4),
                 .shape = Shape{2, 3, 4},
                 .zero_size = {{{0, 3, 7}}},
                 .differentiable = false},
                {.name = "none",
                 .fn = drawn(0, true),
                 .inputs = {positive({2, 3})},
                 .reference = by_sums(0),
                 .shape = Shape{2, 0},
                 .differentiable = false}};
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  table.errors = {
      error("negative", {1, -0.5, 1}, 1, true, "weight -0.5 at 1 of row 0"),
      error("nan", {1, 1, nan}, 1, true, "at 2 of row 0"),
      error("infinite", {inf, 1, 1}, 1, false, "at 0 of row 0"),
      error("all zero", {0, 0}, 1, true, "0 weights of row 0 are above 0"),
      error("too few", {0, 3, 1}, 3, false, "2 weights of row 0 are above 0"),
      error("more than there are", {1, 1}, 3, false, "3 of 2 positions"),
      error("a negative count", {1, 1}, -1, true, "-1 of 2 positions"),
      {.name = "integers",
       .fn = drawn(1, true),
       .inputs = {integers({3}, 1, 5).as(i32)},
       .error = typeid(DTypeError)},
      {.name = "no axis",
       .fn = drawn(1, true),
       .inputs = {positive({})},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(multinomial_table);

// Samples of `weights`, with the probability of each outcome.
double chi_squared(const std::map<std::vector<double>, double>& expected,
                   const std::map<std::vector<double>, int>& counts,
                   int samples) {
  double sum = 0.0;
  for (const auto& [outcome, p] : expected) {
    const auto found = counts.find(outcome);
    const double seen = found == counts.end() ? 0 : found->second;
    sum += (seen - p * samples) * (seen - p * samples) / (p * samples);
  }
  return sum;
}

TEST(MultinomialTest, DrawsOnesAfterAnotherFromWhatIsLeft) {
  const std::array<double, 4> weights{1, 0, 3, 6};
  Generator generator(11);
  const UseGenerator use(generator);
  constexpr int kSamples = 20000;
  const Tensor rows = full({kSamples, 1}, 1.0, f64);
  std::map<std::vector<double>, int> counts;
  const Tensor w = from_values(weights, {4}, f64);
  for (int i = 0; i < kSamples; ++i) {
    const auto two = multinomial(w, 2).to_vector();
    ++counts[{two[0], two[1]}];
  }
  std::map<std::vector<double>, double> expected;
  for (const std::size_t a : {0U, 2U, 3U}) {
    for (const std::size_t b : {0U, 2U, 3U}) {
      if (a != b) {
        expected[{static_cast<double>(a), static_cast<double>(b)}] =
            weights[a] / 10 * weights[b] / (10 - weights[a]);
      }
    }
  }
  EXPECT_EQ(counts.size(), expected.size());
  EXPECT_LT(chi_squared(expected, counts, kSamples), 20.5);  // 0.999, 5 free
}

TEST(MultinomialTest, DrawsWithTheShareOfEachWeight) {
  Generator generator(12);
  const UseGenerator use(generator);
  constexpr int kSamples = 40000;
  const Tensor w = from_values({2, 0, 1, 5, 0}, {5});
  std::map<std::vector<double>, int> counts;
  for (const double at : multinomial(w, kSamples, true).to_vector()) {
    ++counts[{at}];
  }
  EXPECT_EQ(counts.size(), 3U);
  EXPECT_LT(
      chi_squared({{{0}, 0.25}, {{2}, 0.125}, {{3}, 0.625}}, counts, kSamples),
      13.8);  // 0.999, 2 free
}

TEST(MultinomialTest, TakesOneDraw) {
  Generator generator(5);
  const UseGenerator use(generator);
  const Tensor w = ones({3});
  for (const bool replacement : {false, true}) {
    const auto before = generator.state().draw;
    multinomial(w, 2, replacement);
    EXPECT_EQ(generator.state().draw, before + 1);
  }
}

}  // namespace
}  // namespace neap::testing
