// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ledger: who has how much. One row (bucket) per tag, with live bytes and
// blocks now and as they were at the live peak.
//
// The snapshot at the peak costs nothing to take. Rows carry the number of the
// peak (epoch) at which they were last noted:
//
//   epoch == peak's    at_peak holds what the row had at the peak
//   epoch != peak's    the row has not changed since; what it has now is it
//
// so a new peak is one increment, and a row notes itself before it changes.
//
// Bounded: at most kMaxBuckets rows. Rows that hold nothing, now and at the
// peak, are reused. Beyond the bound, tags fold into one row per category and
// space, without owner and site; from then until these rows are empty no other
// row opens or closes, so that a tag finds the row it was charged to.
// Not thread-safe.
#pragma once

#include <array>
#include <span>

#include "neap/memory/domain.hpp"
#include "neap/memory/owner_book.hpp"

namespace neap::memory {

inline constexpr std::uint32_t kMaxBuckets = 65536;

class Ledger {
 public:
  /// `pages` must outlive the ledger.
  explicit Ledger(SystemPages& pages, std::uint32_t max_rows = kMaxBuckets)
      : max_rows_(max_rows), rows_(pages), index_(pages), owners_(pages) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// The row that `tag` is charged to; 0 when it must be opened first.
  BucketId find(const Tag& tag) const noexcept;
  /// Bytes that open(tag) would take from the system.
  Bytes growth_for(const Tag& tag) noexcept;
  /// Like find, opening a row. RETURNS: 0 when the system refuses.
  BucketId open(const Tag& tag) noexcept;

  /// Adds a block to a row, and takes one away.
  void charge(BucketId bucket, Bytes bytes) noexcept;
  void credit(BucketId bucket, Bytes bytes) noexcept;
  /// Takes a block from a row to another.
  void move(BucketId from, BucketId to, Bytes bytes) noexcept;

  Tag tag_of(BucketId bucket) const noexcept;
  /// REQUIRES: a row that a block is charged to.
  SpaceId space_of(BucketId bucket) const noexcept {
    return rows_[bucket.value].tag.space;
  }
  Bytes live() const noexcept { return live_; }
  Bytes live_peak() const noexcept { return live_peak_; }
  std::int64_t blocks() const noexcept { return blocks_; }
  void reset_peak() noexcept;

  int live_rows(std::span<Row> rows) const noexcept;
  int peak_rows(std::span<Row> rows) const noexcept;
  OwnerBook& owners() noexcept { return owners_; }
  const OwnerBook& owners() const noexcept { return owners_; }

  /// Rows in use, of max_rows.
  std::uint32_t rows() const noexcept;
  bool is_consistent() const noexcept;

 private:
  struct Bucket {
    Tag tag;
    bool open;  // named by the index
    Bytes live;
    std::int64_t blocks;
    Bytes at_peak;  // valid when epoch is the peak's
    std::int64_t blocks_at_peak;
    std::uint64_t epoch;
    std::uint32_t next_free;  // chain of closed rows
  };
  static constexpr std::uint32_t kFoldRows = kCategoryCount * kMaxSpaces;

  static BucketId fold(const Tag& tag) noexcept;
  bool is_fold(const Bucket& bucket) const noexcept {
    return &bucket <= &rows_[kFoldRows];
  }
  static std::uint32_t hash_of(const Tag& tag) noexcept;
  void note(Bucket& bucket) noexcept;
  Row peak_row(const Bucket& bucket) const noexcept;
  void add(Bucket& bucket, Bytes bytes, std::int64_t blocks) noexcept;
  bool has_room() noexcept;
  bool may_grow() const noexcept { return used_ < max_rows_; }
  bool prepare() noexcept;
  void reclaim() noexcept;
  bool reserve_index(std::uint32_t rows) noexcept;
  std::uint32_t growth_target() const noexcept;

  // The place of a row that was found lately, which may be asked for again.
  std::uint32_t& recent(const Tag& tag) const noexcept {
    return recent_[(tag.site.value * 16 +
                    static_cast<std::uint32_t>(tag.category) +
                    tag.owner.value) %
                   recent_.size()];
  }

  std::uint32_t max_rows_;
  BookArray<Bucket> rows_;  // [0]: none; then the fold rows; then by tag
  BookIndex index_;
  OwnerBook owners_;
  std::uint32_t used_ = 1 + kFoldRows;  // rows ever used
  std::uint32_t free_ = 0;              // chain of closed rows
  std::uint32_t emptied_ = 0;     // rows that became empty since last swept
  std::int64_t fold_blocks_ = 0;  // live blocks in fold rows
  bool is_folding_ = false;
  Bytes live_ = 0;
  Bytes live_peak_ = 0;
  std::int64_t blocks_ = 0;
  std::uint64_t peak_epoch_ = 1;
  mutable std::array<std::uint32_t, 64> recent_{};  // ids that find() checks
};

}  // namespace neap::memory
