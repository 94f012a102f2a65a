// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/fields/bucket_sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace neap::data {
namespace {

using Lengths = std::vector<std::int64_t>;
// The length of a batch, and its samples.
using Shown = std::pair<std::int64_t, std::vector<std::uint32_t>>;

std::vector<Shown> batches_of(BucketSampler& sampler, std::int64_t epoch) {
  sampler.start(epoch);
  std::vector<Shown> all;
  for (std::int64_t i = 0; i < sampler.batches(); ++i) {
    const BucketBatch batch = sampler[i];
    all.emplace_back(batch.length,
                     std::vector(batch.samples.begin(), batch.samples.end()));
  }
  return all;
}

// Lengths 1 to 12, by turns.
Lengths turns(std::int64_t count) {
  Lengths lengths;
  for (std::int64_t i = 0; i < count; ++i) {
    lengths.push_back(1 + i * 5 % 12);
  }
  return lengths;
}

TEST(BucketSamplerTest, GoesInOrderBucketByBucketUnlessShuffled) {
  BucketSampler sampler(Lengths{9, 2, 4, 1, 8, 3}, Lengths{4, 9}, {.batch = 3});
  EXPECT_EQ(batches_of(sampler, 5),
            (std::vector<Shown>{{4, {1, 2, 3}}, {4, {5}}, {9, {0, 4}}}));
}

TEST(BucketSamplerTest, ReturnsEverySampleOnceInItsBucket) {
  const Lengths lengths = turns(500);
  BucketSampler sampler(lengths, Lengths{3, 7, 12},
                        {.batch = 8, .shuffle = true, .seed = 3});
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<std::uint32_t> seen;
    std::map<std::int64_t, int> smaller;
    for (const auto& [length, samples] : batches_of(sampler, epoch)) {
      const std::int64_t below = length == 3 ? 0 : length == 7 ? 3 : 7;
      EXPECT_LE(samples.size(), 8U);
      smaller[length] += samples.size() < 8 ? 1 : 0;
      for (const std::uint32_t sample : samples) {
        EXPECT_GT(lengths[sample], below);
        EXPECT_LE(lengths[sample], length);
        EXPECT_TRUE(seen.insert(sample).second);
      }
    }
    EXPECT_EQ(seen.size(), 500U);
    for (const auto& [length, count] : smaller) {
      EXPECT_LE(count, 1) << length;
    }
  }
}

TEST(BucketSamplerTest, DependsOnSeedAndEpochAlone) {
  const Lengths lengths = turns(200);
  const auto make = [&](std::uint64_t seed) {
    return BucketSampler(lengths, Lengths{6, 12},
                         {.batch = 7, .shuffle = true, .seed = seed});
  };
  BucketSampler a = make(7);
  BucketSampler b = make(7);
  batches_of(a, 0);
  EXPECT_EQ(batches_of(a, 5), batches_of(b, 5));
  EXPECT_NE(batches_of(a, 5), batches_of(a, 6));
  BucketSampler c = make(8);
  EXPECT_NE(batches_of(a, 5), batches_of(c, 5));
}

TEST(BucketSamplerTest, ShufflesBatchesAndSamples) {
  const Lengths lengths = turns(240);
  BucketSampler sampler(lengths, Lengths{6, 12},
                        {.batch = 10, .shuffle = true, .seed = 7});
  int long_ones = 0;
  std::set<std::vector<std::uint32_t>> firsts;
  constexpr int kEpochs = 600;
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto batches = batches_of(sampler, epoch);
    ASSERT_EQ(batches.size(), 24U);
    long_ones += batches[0].first == 12 ? 1 : 0;
    firsts.insert(batches[0].second);
  }
  EXPECT_NEAR(long_ones, kEpochs / 2.0, 60);
  EXPECT_EQ(firsts.size(), std::size_t{kEpochs});
}

TEST(BucketSamplerTest, LeavesOutWhatFillsNoBatch) {
  BucketSampler sampler(Lengths{1, 1, 1, 5, 5}, Lengths{1, 5},
                        {.batch = 2, .shuffle = true, .drop_last = true});
  EXPECT_EQ(sampler.batches(), 2);
  for (const auto& [length, samples] : batches_of(sampler, 0)) {
    EXPECT_EQ(samples.size(), 2U) << length;
  }
}

TEST(BucketSamplerTest, CountsItemsWithTheirPadding) {
  const Lengths lengths = turns(120);  // ten of each length
  BucketSampler sampler(lengths, Lengths{3, 12}, {.items = 36});
  EXPECT_EQ(sampler.batch_of(0), 12);
  EXPECT_EQ(sampler.batch_of(1), 3);
  EXPECT_EQ(sampler.most_items(), 36);
  EXPECT_EQ(sampler.most_samples(), 12);
  EXPECT_EQ(sampler.batches(), 3 + 30);  // 30 and 90 samples
  for (const auto& [length, samples] : batches_of(sampler, 0)) {
    EXPECT_LE(length * static_cast<std::int64_t>(samples.size()), 36);
  }
  const BucketSampler tight(lengths, Lengths{12}, {.items = 5});
  EXPECT_EQ(tight.batch_of(0), 1);
  EXPECT_EQ(tight.most_items(), 12);
}

TEST(BucketSamplerTest, HoldsNoMoreThanThereIs) {
  const BucketSampler few(Lengths{2, 2}, Lengths{2, 4}, {.batch = 100});
  EXPECT_EQ(few.most_items(), 4);
  EXPECT_EQ(few.most_samples(), 2);
  BucketSampler none(Lengths{}, Lengths{}, {});
  none.start(0);
  EXPECT_EQ(none.batches(), 0);
  EXPECT_EQ(none.most_items(), 0);
}

TEST(BucketSamplerTest, TakesBatchesOfAnySize) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const BucketSampler all(Lengths{1, 2, 2, 1, 1, 2}, Lengths{1, 2},
                          {.batch = kMost});
  EXPECT_EQ(all.batches(), 2);
  EXPECT_EQ(all.most_samples(), 3);
  EXPECT_EQ(all.most_items(), 6);
}

TEST(BucketSamplerTest, RefusesWhatMakesNoSense) {
  const auto make = [](const Lengths& lengths, const Lengths& buckets,
                       const BucketOptions& options = {}) {
    return BucketSampler(lengths, buckets, options);
  };
  EXPECT_THROW(make({1}, {1}, {.batch = 0}), ValueError);
  EXPECT_THROW(make({1}, {1}, {.items = -1}), ValueError);
  EXPECT_THROW(make({1}, {2, 2}), ValueError);
  EXPECT_THROW(make({1}, {3, 2}), ValueError);
  EXPECT_THROW(make({0}, {0}), ValueError);
  EXPECT_THROW(make({1}, {2, (std::int64_t{1} << 30) + 1}), ValueError);
  EXPECT_THROW(make({3}, {2}), ValueError);
  EXPECT_THROW(make({-1}, {2}), ValueError);
  EXPECT_THROW(make({1}, {}), ValueError);
}

}  // namespace
}  // namespace neap::data
