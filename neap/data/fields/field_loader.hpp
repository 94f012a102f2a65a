// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// FieldLoader: batches of samples with several fields, whose variable ones are
// padded to a common length, with a mask of what is not padding.
//
//   data::FieldLoader loader(texts, {.items = 4096, .buckets = 4,
//                                    .shuffle = true, .prefetch = 1});
//   loader.start(epoch);
//   while (const data::FieldBatch* batch = loader.next()) {
//     step(batch->fields[0], batch->masks[0], batch->fields[1]);
//   }
//
// Samples of about the same length come together (BucketSampler), so that few
// items are padding, and a compiled step has a plan for each of a handful of
// shapes. As a Loader's, batches are in a ring that is allocated once, for the
// largest of them; with `prefetch` a reader thread fills them ahead; and order
// and draws follow from seed and epoch alone.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "neap/data/fields/bucket_sampler.hpp"
#include "neap/data/fields/field_set.hpp"

namespace neap::data {

class ReadAhead;

/// The most fields of a sample.
inline constexpr std::size_t kMostFields = 8;

struct FieldBatch {
  std::int64_t size = 0;    // samples, n
  std::int64_t length = 0;  // items of each variable field, padding included
  /// (n, length, shape...) where a field is variable, else (n, shape...).
  std::array<Tensor, kMostFields> fields;
  /// (n, length) bool of a variable field: true for a sample's own items, as
  /// attention takes it. Undefined for the others.
  std::array<Tensor, kMostFields> masks;
};

enum class PadTo : std::uint8_t {
  kBucket,   // the length of the bucket: a handful of shapes
  kLongest,  // the longest sample of the batch
};

struct FieldLoaderOptions {
  std::int64_t batch = 64;  // samples
  /// > 0: as many samples as have so many items together, padding included.
  std::int64_t items = 0;
  /// Lengths of buckets, ascending; none: so many are planned (plan_lengths).
  std::span<const std::int64_t> lengths{};
  std::int64_t buckets = 4;
  /// All lengths are multiples of it: planned ones, given ones (others are
  /// refused), and the longest of a batch.
  std::int64_t multiple = 1;
  PadTo pad_to = PadTo::kBucket;
  bool shuffle = false;
  std::uint64_t seed = 0;
  bool drop_last = false;  // leave out what fills no whole batch of a bucket
  int prefetch = 0;        // batches that a reader thread fills ahead
};

/// LIFETIME: the set outlives the loader. A batch's tensors keep their values
/// until kRing further batches were asked for, or the loader ends; a graph that
/// still needs them after that refuses its backward. One thread at a time.
class NEAP_API FieldLoader {
 public:
  static constexpr int kRing = 2;
  static constexpr int kMaxPrefetch = 6;

  /// Asks for the length of each sample, and allocates the ring, within the
  /// budget. THROWS: OutOfMemory; ValueError for options that BucketSampler or
  /// plan_lengths refuse, a prefetch outside [0, kMaxPrefetch], and a set
  /// without a field or with more than kMostFields; Error where the system
  /// starts no thread.
  FieldLoader(const AnyFieldSet& set, const FieldLoaderOptions& options,
              CallSite site = CallSite::here());
  ~FieldLoader();
  FieldLoader(const FieldLoader&) = delete;
  FieldLoader& operator=(const FieldLoader&) = delete;

  /// A temporary set is refused.
  template <FieldSet D>
  requires(!std::is_reference_v<D> && !std::is_same_v<D, AnyFieldSet>)
      FieldLoader(D&& gone, const FieldLoaderOptions& options,
                  CallSite site = CallSite::here())
  = delete;

  /// Begins an epoch; `first_batch` skips ahead (for resuming), at most to the
  /// epoch's end. A step that is traced is refused, and nothing is begun.
  void start(std::int64_t epoch, std::int64_t first_batch = 0,
             const CallSite& site = CallSite::here()) noexcept;
  /// The next batch of the epoch, or nullptr at its end. THROWS: OutOfMemory;
  /// ReadError where the set failed, or what it threw; the next call tries the
  /// same batch once more. ValueError where a sample is longer than it was, or
  /// the set has another size by now, and in a forked child, where no reader
  /// is. TraceError inside a step that is traced.
  const FieldBatch* next();

  std::int64_t batches_per_epoch() const noexcept { return sampler_.batches(); }
  std::int64_t samples() const noexcept { return set_.size(); }
  /// Lengths of the buckets.
  std::span<const std::int64_t> lengths() const noexcept {
    return sampler_.buckets();
  }
  /// The set's fingerprint, and that of the buckets, where it has one.
  std::optional<std::uint64_t> fingerprint() const;
  /// The position at which a resumed run continues: start(epoch(),
  /// next_batch()). A step that is traced is refused where it asks.
  std::int64_t epoch(const CallSite& site = CallSite::here()) const noexcept;
  std::int64_t next_batch(
      const CallSite& site = CallSite::here()) const noexcept;

 private:
  // Memory of the largest batch, a row of elements for each field.
  struct Slot {
    std::array<Tensor, kMostFields> fields;
    std::array<Tensor, kMostFields> masks;
    std::int64_t length = 0;  // of the batch that is there
    FieldBatch shown;         // views of it
  };

  int slots() const noexcept { return kRing + options_.prefetch; }
  Slot& slot_of(std::int64_t number) const noexcept;
  void make_ring(CallSite site);
  void hand_over(std::int64_t number) noexcept;
  void fill(std::int64_t number) const;
  std::int64_t length_of(const BucketBatch& batch) const;
  void load(const Slot& slot, std::int64_t row, std::int64_t index) const;
  void show(Slot& slot, const BucketBatch& batch) const;
  bool has_elements(const Slot& slot) const;

  AnyFieldSet set_;
  FieldLoaderOptions options_;
  base::SiteId site_;
  memory::Vector<FieldSpec> specs_;
  std::array<Tensor, kMostFields> padding_;  // an element for each field
  BucketSampler sampler_;
  mutable std::array<Slot, kRing + kMaxPrefetch> ring_;
  std::int64_t epoch_ = 0;
  // Batches are numbered through all epochs; number b is in slot b % slots().
  std::int64_t first_ = 0;        // number of the epoch's batch 0
  std::int64_t end_ = 0;          // beyond the epoch's last; 0 before start()
  std::int64_t next_ = 0;         // number of the batch that next() returns
  std::int64_t handed_over_ = 0;  // slots of batches below it may be filled
  // Declared last: its thread reads all the others.
  memory::Owned<ReadAhead> reader_;
};

}  // namespace neap::data
