// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// BucketSampler: the batches of an epoch, each of samples whose lengths are in
// one bucket. Samples are shuffled, sorted into buckets in that order, cut into
// batches, and the batches are shuffled: a function of (seed, epoch) alone, so
// a run can be resumed anywhere. How many batches there are of each bucket is
// the same in all epochs.
#pragma once

#include <cstdint>
#include <span>

#include "neap/data/sampler.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data {

struct BucketOptions {
  std::int64_t batch = 64;  // samples
  /// > 0: a batch has so many samples that their padded items are at most this
  /// many, and at least one; `batch` then has no meaning.
  std::int64_t items = 0;
  bool shuffle = false;
  std::uint64_t seed = 0;
  bool drop_last = false;  // leave out what fills no whole batch of a bucket
};

/// Batch `number` of an epoch, and which samples it has.
struct BucketBatch {
  std::int64_t length = 0;  // of its bucket
  std::span<const std::uint32_t> samples;
};

class NEAP_API BucketSampler {
 public:
  /// Samples of these lengths, and the lengths of buckets, in ascending order.
  /// The order takes 9 B a sample (category data). THROWS: OutOfMemory;
  /// ValueError unless 0 < batch, 0 <= items, there are less than 2^32 samples
  /// and at most 256 buckets in strictly ascending order, each of 1 to 2^30,
  /// and no sample is longer than the last.
  BucketSampler(std::span<const std::int64_t> lengths,
                std::span<const std::int64_t> buckets,
                const BucketOptions& options);

  /// Computes the batches of an epoch.
  void start(std::int64_t epoch) noexcept;

  std::int64_t batches() const noexcept {
    return static_cast<std::int64_t>(batches_.size());
  }
  /// Samples in a whole batch of a bucket's.
  std::int64_t batch_of(std::size_t bucket) const noexcept;
  std::span<const std::int64_t> buckets() const noexcept { return buckets_; }
  /// The most items that a batch has, padding included.
  std::int64_t most_items() const noexcept;
  /// The most samples that a batch has.
  std::int64_t most_samples() const noexcept;
  /// A step that is traced is refused where it asks. REQUIRES: start() was
  /// called, number in [0, batches()). LIFETIME: until the next start().
  BucketBatch operator[](std::int64_t number) const noexcept;

 private:
  struct Batch {
    std::uint32_t begin = 0;  // in order_
    std::uint32_t count = 0;
    std::uint32_t bucket = 0;
  };
  void cut() noexcept;

  BucketOptions options_;
  Sampler sampler_;
  memory::Vector<std::int64_t> buckets_;    // lengths
  memory::Vector<std::uint8_t> bucket_of_;  // of each sample
  memory::Vector<std::int64_t> sizes_;      // samples of each bucket
  memory::Vector<std::uint32_t> order_;     // bucket by bucket
  memory::Vector<Batch> batches_;
};

}  // namespace neap::data
