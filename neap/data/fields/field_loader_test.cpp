// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/fields/field_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "neap/data/read_error.hpp"

namespace neap::data {
namespace {

using testing::ElementsAre;

// Sample i has 1 + i * 5 % 12 tokens 100 i + 1, 100 i + 2, ..., pairs of their
// halves, and a label i.
struct Texts {
  std::int64_t count = 30;
  std::array<FieldSpec, 3> specs = {
      {{.shape = {}, .dtype = i64, .is_variable = true, .padding = -1.0},
       {.shape = {2}, .dtype = f32, .is_variable = true, .padding = 0.5},
       {.shape = {}, .dtype = i32}}};

  std::int64_t size() const { return count; }
  std::span<const FieldSpec> fields() const { return specs; }
  std::int64_t length(std::int64_t index) const noexcept {
    return 1 + index * 5 % 12;
  }
  void load(SampleId id, std::span<FieldRow> rows) const noexcept {
    for (std::int64_t i = 0; i < length(id.index); ++i) {
      const std::int64_t token = 100 * id.index + i + 1;
      const float half = static_cast<float>(token) / 2;
      const std::array<float, 2> pair = {half, -half};
      const auto at = static_cast<std::size_t>(i);
      std::memcpy(&rows[0].bytes[at * sizeof(token)], &token, sizeof(token));
      std::memcpy(&rows[1].bytes[at * sizeof(pair)], &pair, sizeof(pair));
    }
    const auto label = static_cast<std::int32_t>(id.index);
    std::memcpy(rows[2].bytes.data(), &label, sizeof(label));
  }
  std::uint64_t fingerprint() const { return 11; }
};

// Checks a batch of Texts against its labels; returns these.
std::vector<std::int64_t> labels_of(const Texts& texts,
                                    const FieldBatch& batch) {
  std::vector<std::int64_t> labels;
  const auto values = batch.fields[2].to_vector();
  EXPECT_EQ(batch.fields[0].shape(), (Shape{batch.size, batch.length}));
  EXPECT_EQ(batch.fields[1].shape(), (Shape{batch.size, batch.length, 2}));
  EXPECT_EQ(batch.masks[0].shape(), (Shape{batch.size, batch.length}));
  EXPECT_EQ(batch.masks[0].dtype(), boolean);
  EXPECT_FALSE(batch.masks[2].defined());
  const auto tokens = batch.fields[0].to_vector();
  const auto halves = batch.fields[1].to_vector();
  const auto masks = batch.masks[0].to_vector();
  EXPECT_EQ(batch.masks[1].to_vector(), masks);
  std::size_t at = 0;
  for (const double value : values) {
    const auto label = static_cast<std::int64_t>(value);
    labels.push_back(label);
    for (std::int64_t i = 0; i < batch.length; ++i, ++at) {
      const bool is_own = i < texts.length(label);
      const auto token = static_cast<double>(100 * label + i + 1);
      EXPECT_EQ(masks[at], is_own ? 1.0 : 0.0);
      EXPECT_EQ(tokens[at], is_own ? token : -1.0);
      EXPECT_EQ(halves[2 * at], is_own ? token / 2 : 0.5);
      EXPECT_EQ(halves[2 * at + 1], is_own ? -token / 2 : 0.5);
    }
  }
  return labels;
}

using Epoch = std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>>;

// Lengths and labels of an epoch's batches, from one on.
Epoch epoch_of(FieldLoader& loader, const Texts& texts, std::int64_t epoch,
               std::int64_t first = 0) {
  Epoch all;
  loader.start(epoch, first);
  while (const FieldBatch* batch = loader.next()) {
    all.emplace_back(batch->length, labels_of(texts, *batch));
  }
  return all;
}

TEST(FieldLoaderTest, PadsToTheBucketsAndMasksThePadding) {
  const Texts texts;
  const std::vector<std::int64_t> lengths = {4, 12};
  FieldLoader loader(texts, {.batch = 4, .lengths = lengths, .shuffle = true});
  std::set<std::int64_t> seen;
  std::set<std::int64_t> labels;
  const auto epoch = epoch_of(loader, texts, 0);
  EXPECT_EQ(static_cast<std::int64_t>(epoch.size()),
            loader.batches_per_epoch());
  for (const auto& [length, found] : epoch) {
    seen.insert(length);
    labels.insert(found.begin(), found.end());
  }
  EXPECT_THAT(seen, ElementsAre(4, 12));
  EXPECT_EQ(labels.size(), 30U);
}

TEST(FieldLoaderTest, PlansItsBuckets) {
  const Texts texts;
  const FieldLoader loader(texts, {.batch = 4, .buckets = 3});
  EXPECT_EQ(loader.lengths().size(), 3U);
  EXPECT_EQ(loader.lengths().back(), 12);
  const FieldLoader even(texts, {.batch = 4, .buckets = 3, .multiple = 8});
  EXPECT_THAT(even.lengths(), ElementsAre(8, 16));
}

TEST(FieldLoaderTest, PadsToTheLongestOfABatchWhereItIsAsked) {
  const Texts texts;
  FieldLoader loader(
      texts,
      {.batch = 2, .buckets = 1, .multiple = 3, .pad_to = PadTo::kLongest});
  for (const auto& [length, labels] : epoch_of(loader, texts, 0)) {
    std::int64_t longest = 0;
    for (const std::int64_t label : labels) {
      longest = std::max(longest, texts.length(label));
    }
    EXPECT_EQ(length, (longest + 2) / 3 * 3);
  }
}

TEST(FieldLoaderTest, IsTheSameWhoeverReadsAndAfterAResume) {
  const Texts texts;
  FieldLoaderOptions options{
      .items = 30, .buckets = 3, .shuffle = true, .seed = 5};
  FieldLoader plain(texts, options);
  options.prefetch = 3;
  FieldLoader ahead(texts, options);
  const auto whole = epoch_of(plain, texts, 2);
  EXPECT_EQ(epoch_of(ahead, texts, 2), whole);
  EXPECT_EQ(epoch_of(ahead, texts, 2, 3),
            (Epoch(whole.begin() + 3, whole.end())));
  EXPECT_NE(epoch_of(plain, texts, 3), whole);
  ahead.start(7, 2);
  EXPECT_EQ(ahead.epoch(), 7);
  EXPECT_EQ(ahead.next_batch(), 2);
}

TEST(FieldLoaderTest, LeavesAnEpochInItsMiddle) {
  struct Counted : Texts {
    mutable std::atomic<int> loads = 0;
    void load(SampleId id, std::span<FieldRow> rows) const noexcept {
      Texts::load(id, rows);
      ++loads;
    }
  };
  const Counted texts;
  FieldLoaderOptions options{.batch = 3, .shuffle = true, .seed = 5};
  FieldLoader plain(texts, options);
  options.prefetch = 4;
  FieldLoader ahead(texts, options);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    texts.loads = 0;
    ahead.start(epoch);
    while (texts.loads < 4) {  // more than a batch has been read ahead
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(epoch_of(ahead, texts, 30), epoch_of(plain, texts, 30));
}

TEST(FieldLoaderTest, AllocatesItsRingOnce) {
  Texts texts;
  texts.count = 3000;
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  FieldLoader loader(texts, {.items = 2400, .buckets = 3, .shuffle = true});
  epoch_of(loader, texts, 0);
  const Bytes live = domain->stats().live;
  for (std::int64_t epoch = 1; epoch < 4; ++epoch) {
    epoch_of(loader, texts, epoch);
    EXPECT_EQ(domain->stats().live, live);
  }
  // An item has 8 + 8 + 1 + 1 bytes, a sample 4; of the order it has 9.
  const Bytes batch = 2400 * 18 + 2400 * 4;
  EXPECT_LT(live, 2 * batch + 3000 * 9 + 12'000);
}

// The versions of its storages tell whoever still needs it.
TEST(FieldLoaderTest, CountsAWriteWhereABatchIsWrittenOver) {
  const Texts texts;
  FieldLoader loader(texts, {.batch = 4});
  loader.start(0);
  const FieldBatch first = *loader.next();
  std::vector<std::uint64_t> versions;
  const auto now = [&] {
    std::vector<std::uint64_t> all;
    for (const Tensor& tensor :
         {first.fields[0], first.fields[2], first.masks[1]}) {
      all.push_back(tensor.array()->storage()->version());
    }
    return all;
  };
  versions = now();
  const auto values = first.fields[0].to_vector();
  loader.next();
  EXPECT_EQ(now(), versions);
  EXPECT_EQ(first.fields[0].to_vector(), values);
  loader.next();
  for (std::size_t i = 0; i < versions.size(); ++i) {
    EXPECT_NE(now()[i], versions[i]) << i;
  }
}

TEST(FieldLoaderTest, TakesAShorterRowWhereTheSetSaysSo) {
  struct Short : Texts {
    void load(SampleId id, std::span<FieldRow> rows) const noexcept {
      Texts::load(id, rows);
      rows[1].length = 0;
    }
  };
  const Short texts;
  FieldLoader loader(texts, {.batch = 4});
  loader.start(0);
  const FieldBatch* batch = loader.next();
  for (const double value : batch->masks[1].to_vector()) {
    EXPECT_EQ(value, 0.0);
  }
  EXPECT_EQ(batch->masks[0].at({0, 0}), 1.0);
}

TEST(FieldLoaderTest, RefusesRowsOfLengthsThatCannotBe) {
  struct Wrong : Texts {
    std::int64_t own = 0;
    void load(SampleId id, std::span<FieldRow> rows) const noexcept {
      Texts::load(id, rows);
      rows[1].length = own;
    }
  };
  Wrong texts;
  FieldLoader loader(texts, {.batch = 4, .buckets = 1});
  for (const std::int64_t own : {-1, 13}) {
    texts.own = own;
    loader.start(0);
    EXPECT_THROW(loader.next(), ValueError) << own;
  }
}

TEST(FieldLoaderTest, ThrowsWhatTheSetCannotRead) {
  struct Failing : Texts {
    mutable bool is_failing = true;
    Result<void> load(SampleId id, std::span<FieldRow> rows) const {
      if (is_failing && id.index == 3) {
        return failure(FailureKind::kIo, "sample 3: gone");
      }
      Texts::load(id, rows);
      return {};
    }
  };
  for (const int prefetch : {0, 2}) {
    const Failing texts;
    FieldLoader loader(texts,
                       {.batch = 30, .buckets = 1, .prefetch = prefetch});
    loader.start(0);
    EXPECT_THROW(loader.next(), ReadError);
    texts.is_failing = false;
    const FieldBatch* batch = loader.next();  // once more
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(labels_of(texts, *batch).size(), 30U);
  }
}

TEST(FieldLoaderTest, RefusesASetThatChanged) {
  Texts texts;
  FieldLoader loader(texts, {.batch = 4});
  loader.start(0);
  texts.count = 31;
  EXPECT_THROW(loader.next(), ValueError);
  struct Growing : Texts {
    std::int64_t more = 0;
    std::int64_t length(std::int64_t index) const noexcept {
      return Texts::length(index) + more;
    }
  };
  Growing growing;
  FieldLoader other(growing, {.batch = 4, .buckets = 1});
  other.start(0);
  growing.more = 12;
  try {
    other.next();
    FAIL() << "it was loaded";
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("of its bucket"));
  }
}

TEST(FieldLoaderTest, HasAFingerprintOfSetAndBuckets) {
  const Texts texts;
  const auto of = [&](const FieldLoaderOptions& options) {
    return FieldLoader(texts, options).fingerprint();
  };
  const auto first = of({});
  EXPECT_TRUE(first.has_value());
  EXPECT_EQ(of({}), first);
  EXPECT_NE(of({.buckets = 2}), first);
  EXPECT_NE(of({.pad_to = PadTo::kLongest}), first);
  EXPECT_NE(of({.items = 100}), first);
  const std::vector<std::int64_t> lengths = {4, 12};
  const std::vector<std::int64_t> longer = {4, 13};
  EXPECT_NE(of({.lengths = lengths}), of({.lengths = longer}));
}

TEST(FieldLoaderTest, RefusesOptionsThatMakeNoSense) {
  const Texts texts;
  EXPECT_THROW(FieldLoader(texts, {.batch = 0}), ValueError);
  EXPECT_THROW(FieldLoader(texts, {.buckets = 0}), ValueError);
  EXPECT_THROW(FieldLoader(texts, {.prefetch = 7}), ValueError);
  EXPECT_THROW(FieldLoader(texts, {.prefetch = -1}), ValueError);
  const std::vector<std::int64_t> too_short = {4};
  EXPECT_THROW(FieldLoader(texts, {.lengths = too_short}), ValueError);
  const std::vector<std::int64_t> given = {30, 60};
  for (const std::int64_t multiple : {-3, 0, 7}) {
    EXPECT_THROW(FieldLoader(texts, {.lengths = given, .multiple = multiple}),
                 ValueError);
  }
  struct Padded : Texts {
    explicit Padded(double padding)
        : spec{.dtype = u8, .is_variable = true, .padding = padding} {}
    std::span<const FieldSpec> fields() const { return {&spec, 1}; }
    FieldSpec spec;
  };
  for (const double padding : {300.0, -1.0, 0.5}) {
    const Padded padded(padding);
    EXPECT_THROW(FieldLoader(padded, {}), ValueError);
  }
  struct Empty : Texts {
    std::span<const FieldSpec> fields() const { return {}; }
  };
  const Empty empty;
  EXPECT_THROW(FieldLoader(empty, {}), ValueError);
}

}  // namespace
}  // namespace neap::data
