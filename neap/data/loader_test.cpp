// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/loader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <set>

#include "neap/memory/scope.hpp"

namespace neap::data {
namespace {

// Sample i is the pair (i, i + 0.5) with label i.
struct Counting {
  std::int64_t count;
  std::int64_t size() const { return count; }
  SampleSpec spec() const { return {{2}, f32, {}, i64}; }
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const std::array<float, 2> x = {static_cast<float>(index),
                                    static_cast<float>(index) + 0.5F};
    std::memcpy(input.data(), x.data(), sizeof(x));
    std::memcpy(target.data(), &index, sizeof(index));
  }
};

TEST(LoaderTest, ReturnsEverySampleOnceAnEpochAndALastSmallerBatch) {
  const Counting data{10};
  Loader loader(data, {.batch = 4, .shuffle = true, .seed = 3});
  EXPECT_EQ(loader.batches_per_epoch(), 3);
  loader.start(0);
  std::set<double> labels;
  std::vector<std::int64_t> sizes;
  while (const Batch* batch = loader.next()) {
    sizes.push_back(batch->size());
    for (std::int64_t i = 0; i < batch->size(); ++i) {
      EXPECT_EQ(batch->input.at({i, 1}), batch->target.at({i}) + 0.5);
      labels.insert(batch->target.at({i}));
    }
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{4, 4, 2}));
  EXPECT_EQ(labels.size(), 10U);
}

TEST(LoaderTest, AnEpochIsARange) {
  const Counting data{10};
  Loader loader(data, {.batch = 4});
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<double> firsts;
    for (const Batch& batch : loader.epoch(epoch)) {
      firsts.push_back(batch.target.at({0}));
    }
    EXPECT_EQ(firsts, (std::vector<double>{0, 4, 8}));
    EXPECT_EQ(loader.epoch(), epoch);
  }
  std::int64_t batches = 0;
  for (const Batch& batch : loader.epoch(2, 2)) {
    batches += batch.size() == 2 ? 1 : 10;
  }
  EXPECT_EQ(batches, 1);
}

TEST(LoaderTest, LeavesTheLastSmallerBatchOutWhereAsked) {
  const Counting data{10};
  Loader loader(data, {.batch = 4, .drop_last = true});
  EXPECT_EQ(loader.batches_per_epoch(), 2);
  loader.start(0);
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_EQ(loader.next(), nullptr);
}

TEST(LoaderTest, ReturnsNothingBeforeStartAndOfAnEmptySet) {
  const Counting data{3};
  Loader loader(data, {.batch = 2});
  EXPECT_EQ(loader.next(), nullptr);
  const Counting none{0};
  Loader empty_loader(none, {.batch = 2});
  empty_loader.start(0);
  EXPECT_EQ(empty_loader.next(), nullptr);
}

TEST(LoaderTest, ResumesInTheMiddleOfAnEpoch) {
  const Counting data{10};
  Loader whole(data, {.batch = 3, .shuffle = true, .seed = 1});
  Loader resumed(data, {.batch = 3, .shuffle = true, .seed = 1});
  whole.start(4);
  whole.next();
  whole.next();
  resumed.start(4, 2);
  EXPECT_EQ(resumed.next()->target.to_vector(),
            whole.next()->target.to_vector());
}

TEST(LoaderTest, AllocatesNothingAfterItsConstruction) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Counting data{12};
  Loader loader(data, {.batch = 4, .shuffle = true});
  const auto before = domain->stats();
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    loader.start(epoch);
    while (loader.next() != nullptr) {
    }
  }
  EXPECT_EQ(domain->stats().allocations, before.allocations);
}

TEST(LoaderTest, CountsAReusedBufferAsWritten) {
  const Counting data{12};
  Loader loader(data, {.batch = 4});
  loader.start(0);
  const Tensor first = loader.next()->input;
  const auto version = first.array()->storage()->version();
  loader.next();
  EXPECT_EQ(first.array()->storage()->version(), version);
  loader.next();
  EXPECT_GT(first.array()->storage()->version(), version);
}

TEST(LoaderTest, TakesNoMoreMemoryThanTheSetHasSamples) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Counting data{3};
  Loader loader(data, {.batch = std::int64_t{1} << 40});
  EXPECT_LE(domain->stats().live, 4 * kKiB);
  EXPECT_EQ(loader.batch_size(), std::int64_t{1} << 40);
  EXPECT_EQ(loader.batches_per_epoch(), 1);
  loader.start(0);
  const Batch* batch = loader.next();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->size(), 3);
  EXPECT_EQ(batch->target.at({2}), 2.0);
  EXPECT_EQ(loader.next(), nullptr);
}

TEST(LoaderTest, SkipsToTheEndOfAnEpochAndNotBeyond) {
  const Counting data{10};
  Loader loader(data, {.batch = 3});
  for (const std::int64_t far :
       {std::int64_t{4}, std::int64_t{100}, std::int64_t{1} << 62}) {
    loader.start(0, far);
    EXPECT_EQ(loader.next(), nullptr);
  }
  loader.start(0, 3);
  EXPECT_EQ(loader.next()->size(), 1);
}

TEST(LoaderTest, RefusesABatchOfNone) {
  const Counting data{3};
  EXPECT_THROW(Loader(data, {.batch = 0}), ValueError);
}

TEST(LoaderTest, ItsBuffersAreOfNoScope) {
  const Counting data{3};
  std::optional<Loader> loader;
  {
    const Scope scope;
    loader.emplace(data, LoaderOptions{.batch = 2});
    EXPECT_EQ(scope.size(), 0);
  }
  loader->start(0);
  EXPECT_EQ(loader->next()->size(), 2);
  EXPECT_EQ(loader->next()->size(), 1);
}

}  // namespace
}  // namespace neap::data
