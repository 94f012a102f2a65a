// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Loader: batches from a data set, through a fixed ring of buffers that are
// allocated once and reused.
//
//   data::Loader loader(dataset, {.batch = 128, .shuffle = true, .seed = 7});
//   for (const data::Batch& batch : loader.epoch(e)) { ... }
//
// With `prefetch` a reader thread fills batches while the caller works on
// earlier ones: the same batches in the same order, in a ring that is larger by
// as many. It reads within an epoch; start() begins the next one.
//
//   ring of kRing + 1     | batch 3 | batch 4 | batch 5 |
//                           caller's: kRing     being read
#pragma once

#include <array>
#include <iterator>

#include "neap/base/rows_of_ranks.hpp"
#include "neap/data/dataset.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/data/mixup.hpp"
#include "neap/data/sampler.hpp"

namespace neap::data {

class ReadAhead;

struct Batch {
  Tensor input;   // (n, sample shape...)
  Tensor target;  // (n, target shape...); with mixup (n, classes) f32
  std::int64_t size() const { return input.size(0); }
};

/// The part of each batch that a loader reads: the rows of a rank's shards
/// (dist::Group, CompileOptions::ranks).
struct LoaderShards {
  std::int64_t count = 1;  // of all ranks
  int rank = 0;
  int ranks = 1;
};

struct LoaderOptions {
  std::int64_t batch = 64;  // of all ranks
  bool shuffle = false;
  std::uint64_t seed = 0;
  bool drop_last = false;  // leave a last, smaller batch out
  /// Batches that a reader thread fills ahead, at most Loader::kMaxPrefetch;
  /// 0: no such thread, next() fills its batch itself.
  int prefetch = 0;
  /// Mixes the samples of each batch, and gives probabilities as targets, which
  /// cross_entropy takes as it takes labels.
  MixupOptions mixup{};
  /// A rank of several, each with the same data set and options, reads the rows
  /// of its shards alone; the order is that of one rank. Not with mixup, which
  /// mixes rows of different shards.
  LoaderShards shards{};
};

/// LIFETIME: the data set outlives the loader. A batch's tensors keep their
/// values until kRing further batches were asked for, or the loader ends; a
/// graph that still needs them after that refuses its backward rather than
/// compute with others. One thread at a time.
class NEAP_API Loader {
 public:
  static constexpr int kRing = 2;
  static constexpr int kMaxPrefetch = 6;

  /// Allocates the ring, within the budget, and the reader's stack.
  /// THROWS: OutOfMemory; ValueError unless batch > 0 and prefetch is in
  /// [0, kMaxPrefetch], and, with mixup, alpha in [1e-3, 1e3] and classes > 0;
  /// DTypeError where that is asked of samples other than f32 with labels of
  /// i64; Error where the system starts no thread; ValueError for shards that
  /// ranks cannot share out, and for a last batch with fewer rows than shards.
  Loader(const AnyDataset& dataset, const LoaderOptions& options,
         CallSite site = CallSite::here());
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// A temporary data set is refused.
  template <Dataset D>
  requires(!std::is_reference_v<D> && !std::is_same_v<D, AnyDataset>)
      Loader(D&& gone, const LoaderOptions& options,
             CallSite site = CallSite::here())
  = delete;

  /// The batches of an epoch, which begins with a loop over them: in its
  /// begin(). That, and the steps of the iterator, THROW: as next(); ValueError
  /// where another epoch, or a batch outside of the loop, was asked for since.
  class Epoch;
  Epoch epoch(std::int64_t number, std::int64_t first_batch = 0) & noexcept;
  Epoch epoch(std::int64_t number, std::int64_t first_batch = 0) && = delete;
  /// Begins an epoch by hand; `first_batch` skips ahead (for resuming), at most
  /// to the epoch's end. A step that is traced is refused, and nothing is
  /// begun.
  void start(std::int64_t epoch, std::int64_t first_batch = 0,
             const CallSite& site = CallSite::here()) noexcept;
  /// The next batch of the epoch, or nullptr at its end. THROWS: ReadError
  /// where the data set failed, or what it threw; the next call tries the same
  /// batch once more. ValueError for a label that mixup has no class for.
  /// TraceError inside a step that is traced, which takes a
  /// batch as its arguments. ValueError in a forked child, where no reader is,
  /// and where the data set has another size or spec by now.
  const Batch* next();

  std::int64_t batches_per_epoch() const noexcept;
  std::int64_t samples() const noexcept { return dataset_.size(); }
  /// The data set's fingerprint, where it has one; with mixup, of that too.
  std::optional<std::uint64_t> fingerprint() const;
  const LoaderOptions& options() const noexcept { return options_; }
  /// The batch asked for; an epoch of fewer samples is one smaller batch.
  std::int64_t batch_size() const noexcept { return options_.batch; }
  /// The position at which a resumed run continues: start(epoch(),
  /// next_batch()). A step that is traced is refused where it asks.
  std::int64_t epoch(const CallSite& site = CallSite::here()) const noexcept;
  std::int64_t next_batch(
      const CallSite& site = CallSite::here()) const noexcept;

 private:
  // Batches are numbered through all epochs; number b is in slot b % slots().
  int slots() const noexcept { return kRing + options_.prefetch; }
  std::size_t slot_of(std::int64_t number) const noexcept;
  void check() const;
  void make_ring(CallSite site);
  void hand_over(std::int64_t number) noexcept;
  std::int64_t count_of(std::int64_t number) const noexcept;
  base::RowsOfRanks rows_of(std::int64_t count) const noexcept {
    return {count, options_.shards.count, options_.shards.ranks};
  }
  std::int64_t own_rows_of(std::int64_t count) const noexcept {
    return rows_of(count).rows_of_rank(options_.shards.rank);
  }
  void check_shards() const;
  void fill(std::int64_t number) const;
  void load_rows(std::int64_t number) const;
  void mix(std::int64_t number) const;
  bool is_mixing() const noexcept { return options_.mixup.alpha != 0.0; }

  AnyDataset dataset_;
  LoaderOptions options_;
  base::SiteId site_;
  Sampler sampler_;
  std::array<Batch, kRing + kMaxPrefetch> ring_;
  std::array<Batch, kRing + kMaxPrefetch> partial_;  // views of first rows
  std::int64_t starts_ = 0;                          // calls of start()
  std::int64_t epoch_ = 0;
  std::int64_t first_ = 0;        // number of the epoch's batch 0
  std::int64_t end_ = 0;          // beyond the epoch's last; 0 before start()
  std::int64_t next_ = 0;         // number of the batch that next() returns
  std::int64_t handed_over_ = 0;  // slots of batches below it may be filled
  // With mixup: the labels of the batch that is filled, and a row of its
  // inputs.
  mutable memory::Vector<std::int64_t> labels_{
      memory::Allocator<std::int64_t>(memory::Category::kInputs)};
  mutable memory::Vector<float> spare_{
      memory::Allocator<float>(memory::Category::kInputs)};
  // Declared last: its thread reads all the others.
  memory::Owned<ReadAhead> reader_;
};

/// LIFETIME: the loader's.
class Loader::Epoch {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = const Batch*;
    using reference = const Batch&;

    NEAP_API explicit Iterator(Loader& loader);
    reference operator*() const noexcept { return *batch_; }
    pointer operator->() const noexcept { return batch_; }
    NEAP_API Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept {
      return batch_ == nullptr;
    }

   private:
    Loader* loader_;
    const Batch* batch_ = nullptr;
    std::int64_t start_;   // the loader's count of starts,
    std::int64_t number_;  // number of its next batch, as this loop left it
  };

  Epoch(Loader& loader, std::int64_t number, std::int64_t first_batch) noexcept
      : loader_(&loader), number_(number), first_batch_(first_batch) {}
  Iterator begin() const {
    loader_->start(number_, first_batch_);
    return Iterator(*loader_);
  }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  Loader* loader_;
  std::int64_t number_;
  std::int64_t first_batch_;
};

inline Loader::Epoch Loader::epoch(std::int64_t number,
                                   std::int64_t first_batch) & noexcept {
  return {*this, number, first_batch};
}

}  // namespace neap::data
