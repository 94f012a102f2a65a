// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/fields/bucket_sampler.hpp"

#include <algorithm>
#include <array>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/data/draw_key.hpp"

namespace neap::data {
namespace {

using base::raise;

constexpr std::size_t kMostBuckets = 256;  // their numbers take a byte
constexpr std::int64_t kMostLength = std::int64_t{1} << 30;

template <class T>
memory::Allocator<T> data_allocator() {
  return memory::Allocator<T>(memory::Category::kData);
}

void check(std::span<const std::int64_t> buckets,
           const BucketOptions& options) {
  if (options.batch < 1 || options.items < 0) {
    raise<ValueError>(
        "bucket sampler: batches of {} samples and {} items, expected at least "
        "one sample, and items that are not negative",
        options.batch, options.items);
  }
  const auto is_wrong = [](std::int64_t a, std::int64_t b) { return a >= b; };
  const bool is_positive = buckets.empty() || buckets.front() > 0;
  const bool is_bounded = buckets.empty() || buckets.back() <= kMostLength;
  if (buckets.size() > kMostBuckets || !is_positive || !is_bounded ||
      std::adjacent_find(buckets.begin(), buckets.end(), is_wrong) !=
          buckets.end()) {
    raise<ValueError>(
        "bucket sampler: {} lengths of buckets, expected at most {} from 1 to "
        "{}, each larger than the one before",
        buckets.size(), kMostBuckets, kMostLength);
  }
}

}  // namespace

BucketSampler::BucketSampler(std::span<const std::int64_t> lengths,
                             std::span<const std::int64_t> buckets,
                             const BucketOptions& options)
    : options_(options),
      sampler_(static_cast<std::int64_t>(lengths.size()), options.shuffle,
               options.seed),
      buckets_(buckets.begin(), buckets.end(), data_allocator<std::int64_t>()),
      bucket_of_(data_allocator<std::uint8_t>()),
      sizes_(buckets.size(), 0, data_allocator<std::int64_t>()),
      order_(lengths.size(), 0, data_allocator<std::uint32_t>()),
      batches_(data_allocator<Batch>()) {
  check(buckets, options);
  bucket_of_.reserve(lengths.size());
  for (const std::int64_t length : lengths) {
    const auto bucket =
        std::lower_bound(buckets.begin(), buckets.end(), length);
    if (bucket == buckets.end() || length < 0) {
      raise<ValueError>(
          "bucket sampler: a sample of length {}, expected 0 to {}, the "
          "longest bucket",
          length, buckets.empty() ? 0 : buckets.back());
    }
    const auto number = static_cast<std::size_t>(bucket - buckets.begin());
    bucket_of_.push_back(static_cast<std::uint8_t>(number));
    ++sizes_[number];
  }
  std::size_t count = 0;
  for (std::size_t bucket = 0; bucket < sizes_.size(); ++bucket) {
    const std::int64_t each = batch_of(bucket);
    const bool has_rest = !options.drop_last && sizes_[bucket] % each != 0;
    count += static_cast<std::size_t>(sizes_[bucket] / each) + has_rest;
  }
  batches_.resize(count);
  cut();
}

std::int64_t BucketSampler::batch_of(std::size_t bucket) const noexcept {
  return options_.items == 0
             ? options_.batch
             : std::max<std::int64_t>(1, options_.items / buckets_[bucket]);
}

std::int64_t BucketSampler::most_samples() const noexcept {
  std::int64_t most = 0;
  for (std::size_t bucket = 0; bucket < sizes_.size(); ++bucket) {
    most = std::max(most, std::min(batch_of(bucket), sizes_[bucket]));
  }
  return most;
}

std::int64_t BucketSampler::most_items() const noexcept {
  std::int64_t most = 0;
  for (std::size_t bucket = 0; bucket < sizes_.size(); ++bucket) {
    most = std::max(
        most, buckets_[bucket] * std::min(batch_of(bucket), sizes_[bucket]));
  }
  return most;
}

// The batches of an epoch, bucket by bucket.
void BucketSampler::cut() noexcept {
  std::size_t made = 0;
  std::int64_t begin = 0;
  for (std::size_t bucket = 0; bucket < sizes_.size(); ++bucket) {
    const std::int64_t each = batch_of(bucket);
    const std::int64_t size = sizes_[bucket];
    for (std::int64_t at = 0, count = 0; at < size; at += count) {
      count = std::min(each, size - at);
      if (count == each || !options_.drop_last) {
        batches_[made++] = {static_cast<std::uint32_t>(begin + at),
                            static_cast<std::uint32_t>(count),
                            static_cast<std::uint32_t>(bucket)};
      }
    }
    begin += size;
  }
}

void BucketSampler::start(std::int64_t epoch) noexcept {
  const base::HearOutside nobody(nullptr);
  sampler_.start(epoch);
  std::array<std::size_t, kMostBuckets> ends{};
  std::size_t end = 0;
  for (std::size_t bucket = 0; bucket < sizes_.size(); ++bucket) {
    ends[bucket] = end;
    end += static_cast<std::size_t>(sizes_[bucket]);
  }
  for (std::int64_t at = 0; at < sampler_.size(); ++at) {
    const std::int64_t sample = sampler_[at];
    const std::uint8_t bucket = bucket_of_[static_cast<std::size_t>(sample)];
    order_[ends[bucket]++] = static_cast<std::uint32_t>(sample);
  }
  cut();
  if (!options_.shuffle) {
    return;
  }
  const base::DrawKey key = draw_key(options_.seed, Purpose::kBuckets, epoch);
  for (std::size_t left = batches_.size(); left > 1; --left) {
    const auto pick = static_cast<std::size_t>(
        drawn_below(key.word(left), static_cast<std::int64_t>(left)));
    std::swap(batches_[left - 1], batches_[pick]);
  }
}

BucketBatch BucketSampler::operator[](std::int64_t number) const noexcept {
  base::tell_of_question("operator[]", "for the samples of a batch", {});
  const Batch& batch = batches_[static_cast<std::size_t>(number)];
  return {buckets_[batch.bucket],
          std::span(order_).subspan(batch.begin, batch.count)};
}

}  // namespace neap::data
