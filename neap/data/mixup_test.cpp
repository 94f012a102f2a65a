// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/mixup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "neap/data/loader.hpp"

namespace neap::data {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

// Sample i is (i, 10 i), its label i % 3.
struct Tens {
  std::int64_t count = 7;
  std::int64_t size() const { return count; }
  SampleSpec spec() const { return {{2}, f32, {}, i64}; }
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const auto x = static_cast<float>(index);
    const std::array<float, 2> pair = {x, 10 * x};
    const std::int64_t label = index % 3;
    std::memcpy(input.data(), pair.data(), sizeof(pair));
    std::memcpy(target.data(), &label, sizeof(label));
  }
  std::uint64_t fingerprint() const { return 5; }
};

// The variance of Beta(a, a) is 1 / (4 (2 a + 1)).
TEST(MixupTest, DrawsSharesOfBeta) {
  constexpr int kDraws = 20'000;
  for (const double alpha : {0.05, 0.2, 1.0, 4.0, 100.0}) {
    double sum = 0.0;
    double squares = 0.0;
    double least = 1.0;
    for (std::int64_t i = 0; i < kDraws; ++i) {
      const double share = mixup_share(alpha, 3, i % 7, i);
      ASSERT_GE(share, 0.0);
      ASSERT_LE(share, 1.0);
      sum += share;
      squares += (share - 0.5) * (share - 0.5);
      least = std::min(least, share);
    }
    const double variance = 0.25 / (2.0 * alpha + 1.0);
    EXPECT_NEAR(sum / kDraws, 0.5, 4.0 * std::sqrt(variance / kDraws));
    EXPECT_NEAR(squares / kDraws, variance, 0.04 * variance) << alpha;
    if (alpha <= 1.0) {
      EXPECT_LT(least, 0.01);
    }
  }
}

TEST(MixupTest, DrawsAShareForEachSeedEpochAndBatch) {
  const double share = mixup_share(0.4, 1, 2, 3);
  EXPECT_EQ(mixup_share(0.4, 1, 2, 3), share);
  EXPECT_NE(mixup_share(0.4, 2, 2, 3), share);
  EXPECT_NE(mixup_share(0.4, 1, 3, 3), share);
  EXPECT_NE(mixup_share(0.4, 1, 2, 4), share);
}

TEST(MixupTest, MixesEachRowWithTheOneBefore) {
  std::vector<float> rows = {0, 1, 4, 5, 8, 9};
  std::vector<float> spare(2);
  mix_rows(rows, spare, 0.75);
  EXPECT_THAT(rows, ElementsAre(2, 3, 3, 4, 7, 8));
  const std::vector<std::int64_t> labels = {2, 0, 2};
  std::vector<float> targets(9, -1.0F);
  mix_labels(labels, 3, 0.75, targets);
  EXPECT_THAT(targets, ElementsAre(0, 0, 1, 0.75, 0, 0.25, 0.25, 0, 0.75));
}

// Row i of a mixed batch is a share of row i of the plain one, and the rest of
// the row before it.
void expect_mixed(const Batch& is, const Batch& was, double share) {
  const std::int64_t n = was.size();
  ASSERT_EQ(is.target.shape(), (Shape{n, 3}));
  EXPECT_EQ(is.target.dtype(), f32);
  const auto mixed = [&](double own, double before) {
    return share * own + (1 - share) * before;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t before = (i + n - 1) % n;
    for (std::int64_t at = 0; at < 2; ++at) {
      EXPECT_NEAR(is.input.at({i, at}),
                  mixed(was.input.at({i, at}), was.input.at({before, at})),
                  1e-5);
    }
    for (std::int64_t label = 0; label < 3; ++label) {
      const auto has = [&](std::int64_t row) {
        return was.target.at({row}) == static_cast<double>(label) ? 1.0 : 0.0;
      };
      EXPECT_NEAR(is.target.at({i, label}), mixed(has(i), has(before)), 1e-6);
    }
  }
}

TEST(MixupTest, MixesTheBatchesOfALoader) {
  const Tens data;
  LoaderOptions options{.batch = 4, .shuffle = true, .seed = 9};
  Loader plain(data, options);
  options.mixup = {.alpha = 1.0, .classes = 3};
  Loader mixed(data, options);
  plain.start(2);
  mixed.start(2);
  for (std::int64_t number = 0; number < 2; ++number) {
    const Batch* was = plain.next();
    expect_mixed(*mixed.next(), *was, mixup_share(1.0, 9, 2, number));
  }
}

TEST(MixupTest, IsTheSameWhoeverReadsAndAfterAResume) {
  const Tens data;
  LoaderOptions options{.batch = 2,
                        .shuffle = true,
                        .seed = 9,
                        .mixup = {.alpha = 0.3, .classes = 3}};
  const auto rest = [&](std::int64_t first) {
    Loader loader(data, options);
    std::vector<std::vector<double>> all;
    for (const Batch& batch : loader.epoch(1, first)) {
      for (const Tensor& tensor : {batch.input, batch.target}) {
        const auto values = tensor.to_vector();
        all.emplace_back(values.begin(), values.end());
      }
    }
    return all;
  };
  const auto whole = rest(0);
  ASSERT_EQ(whole.size(), 8U);
  options.prefetch = 3;
  EXPECT_EQ(rest(0), whole);
  EXPECT_EQ(rest(2), (std::vector(whole.begin() + 4, whole.end())));
}

TEST(MixupTest, HasAFingerprintOfItsOwn) {
  const Tens data;
  const auto of = [&](const MixupOptions& mixup) {
    return Loader(data, {.mixup = mixup}).fingerprint();
  };
  EXPECT_EQ(of({}), 5U);
  const auto mixed = of({.alpha = 0.2, .classes = 3});
  EXPECT_NE(mixed, of({}));
  EXPECT_NE(mixed, of({.alpha = 0.3, .classes = 3}));
  EXPECT_NE(mixed, of({.alpha = 0.2, .classes = 4}));
}

TEST(MixupTest, RefusesWhatItCannotMix) {
  const Tens data;
  const auto load = [&](const MixupOptions& mixup) {
    Loader loader(data, {.batch = 4, .mixup = mixup});
    loader.start(0);
    loader.next();
  };
  EXPECT_THROW(load({.alpha = -0.2, .classes = 3}), ValueError);
  EXPECT_THROW(load({.alpha = std::nan(""), .classes = 3}), ValueError);
  EXPECT_THROW(load({.alpha = 1e4, .classes = 3}), ValueError);
  EXPECT_THROW(load({.alpha = 0.2}), ValueError);
  EXPECT_THROW(load({.alpha = 0.2, .classes = 2}), ValueError);  // label 2
  EXPECT_NO_THROW(load({.alpha = 0.2, .classes = 3}));
  struct Numbers {
    std::int64_t size() const { return 3; }
    SampleSpec spec() const { return {{2}, i64, {}, i64}; }
    void load(std::int64_t, std::span<std::byte>,
              std::span<std::byte>) const noexcept {}
  };
  const Numbers numbers;
  EXPECT_THROW(Loader(numbers, {.mixup = {.alpha = 0.2, .classes = 3}}),
               DTypeError);
}

}  // namespace
}  // namespace neap::data
