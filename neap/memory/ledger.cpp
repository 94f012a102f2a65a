// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/ledger.hpp"

namespace neap::memory {

BucketId Ledger::fold(const Tag& tag) noexcept {
  return BucketId{1 + static_cast<std::uint32_t>(tag.category) * kMaxSpaces +
                  tag.space.value};
}

std::uint32_t Ledger::hash_of(const Tag& tag) noexcept {
  const std::uint64_t where = std::uint64_t{tag.owner.value} << 32U;
  const std::uint64_t kind =
      static_cast<std::uint64_t>(tag.category) << 8U | tag.space.value;
  return hash_of_key((where | tag.site.value) ^ kind << 24U);
}

BucketId Ledger::find(const Tag& tag) const noexcept {
  if (rows_.capacity() == 0) {
    return {};
  }
  if (tag.owner.value == 0 && tag.site.value == 0) {
    return fold(tag);
  }
  std::uint32_t& id = recent(tag);
  if (id != 0 && rows_[id].open && rows_[id].tag == tag) {
    return BucketId{id};
  }
  id = index_.find(hash_of(tag),
                   [&](std::uint32_t at) { return rows_[at].tag == tag; });
  return id == 0 && is_folding_ ? fold(tag) : BucketId{id};
}

// Rows that open() wants to have room for.
std::uint32_t Ledger::growth_target() const noexcept {
  return used_ + 1;
}

Bytes Ledger::growth_for(const Tag& tag) noexcept {
  if (find(tag).value != 0 || has_room()) {
    return 0;
  }
  const std::uint32_t rows = growth_target();
  return rows_.growth_for(rows) + index_.growth_for(rows) +
         owners_.growth_to_prepare();
}

// Room for one more row without the system.
bool Ledger::has_room() noexcept {
  if (rows_.capacity() == 0) {
    return false;
  }
  if (free_ != 0) {
    return true;
  }
  if (may_grow() && rows_.growth_for(used_ + 1) == 0 &&
      index_.growth_for(used_ + 1) == 0) {
    return true;
  }
  // A sweep is paid for by the rows that were emptied since the last one.
  if (emptied_ >= used_ / 4) {
    reclaim();
  }
  return free_ != 0 || !may_grow();
}

bool Ledger::reserve_index(std::uint32_t rows) noexcept {
  return index_.reserve(rows, [this](auto insert) {
    for (std::uint32_t id = 1 + kFoldRows; id < used_; ++id) {
      if (rows_[id].open) {
        insert(hash_of(rows_[id].tag), id);
      }
    }
  });
}

bool Ledger::prepare() noexcept {
  const bool is_first = rows_.capacity() == 0;
  if (!rows_.reserve(growth_target())) {
    return false;
  }
  for (std::uint32_t i = 0; is_first && i < kFoldRows; ++i) {
    Tag& tag = rows_[1 + i].tag;
    tag.category = static_cast<Category>(i / kMaxSpaces);
    tag.space = SpaceId{static_cast<std::uint8_t>(i % kMaxSpaces)};
  }
  return reserve_index(growth_target()) && owners_.prepare();
}

BucketId Ledger::open(const Tag& tag) noexcept {
  BucketId known = find(tag);
  if (known.value != 0) {
    return known;
  }
  if (!has_room() && !prepare()) {
    return {};
  }
  known = find(tag);  // a fold row, where the ledger was empty before
  if (known.value != 0) {
    return known;
  }
  std::uint32_t id = free_;
  if (id != 0) {
    free_ = rows_[id].next_free;
  } else if (may_grow()) {
    id = used_++;
  } else {
    is_folding_ = true;
    return fold(tag);
  }
  rows_[id] = Bucket{};
  rows_[id].tag = tag;
  rows_[id].open = true;
  index_.insert(hash_of(tag), id);
  return BucketId{id};
}

// Closes every row that holds nothing, now and at the peak.
void Ledger::reclaim() noexcept {
  emptied_ = 0;
  for (std::uint32_t id = 1 + kFoldRows; id < used_; ++id) {
    Bucket& bucket = rows_[id];
    const Row peak = peak_row(bucket);
    if (bucket.open && bucket.blocks == 0 && peak.bytes == 0 &&
        peak.blocks == 0) {
      bucket.open = false;
      bucket.next_free = free_;
      free_ = id;
    }
  }
  index_.rebuild([this](auto insert) {
    for (std::uint32_t id = 1 + kFoldRows; id < used_; ++id) {
      if (rows_[id].open) {
        insert(hash_of(rows_[id].tag), id);
      }
    }
  });
}

void Ledger::note(Bucket& bucket) noexcept {
  if (bucket.epoch != peak_epoch_) {
    bucket.at_peak = bucket.live;
    bucket.blocks_at_peak = bucket.blocks;
    bucket.epoch = peak_epoch_;
  }
}

void Ledger::add(Bucket& bucket, Bytes bytes, std::int64_t blocks) noexcept {
  note(bucket);
  bucket.live += bytes;
  bucket.blocks += blocks;
  owners_.add(bucket.tag, bytes);
  if (bucket.blocks == 0) {
    ++emptied_;
  }
  if (is_fold(bucket)) {
    fold_blocks_ += blocks;
    is_folding_ = is_folding_ && fold_blocks_ > 0;
  }
}

void Ledger::charge(BucketId bucket, Bytes bytes) noexcept {
  add(rows_[bucket.value], bytes, 1);
  ++blocks_;
  live_ += bytes;
  if (live_ > live_peak_) {
    live_peak_ = live_;
    ++peak_epoch_;  // every row is now as at the peak
  }
}

void Ledger::credit(BucketId bucket, Bytes bytes) noexcept {
  add(rows_[bucket.value], -bytes, -1);
  --blocks_;
  live_ -= bytes;
}

void Ledger::move(BucketId from, BucketId to, Bytes bytes) noexcept {
  // In first: a fold row that both are must not look empty in between.
  add(rows_[to.value], bytes, 1);
  add(rows_[from.value], -bytes, -1);
}

Tag Ledger::tag_of(BucketId bucket) const noexcept {
  return bucket.value != 0 && bucket.value < used_ && rows_.capacity() > 0
             ? rows_[bucket.value].tag
             : Tag{};
}

void Ledger::reset_peak() noexcept {
  live_peak_ = live_;
  ++peak_epoch_;
}

Row Ledger::peak_row(const Bucket& bucket) const noexcept {
  return bucket.epoch == peak_epoch_
             ? Row{bucket.tag, bucket.at_peak, bucket.blocks_at_peak}
             : Row{bucket.tag, bucket.live, bucket.blocks};
}

int Ledger::live_rows(std::span<Row> rows) const noexcept {
  std::size_t count = 0;
  for (std::uint32_t id = 1; rows_.capacity() > 0 && id < used_; ++id) {
    const Bucket& bucket = rows_[id];
    if (bucket.blocks != 0) {
      if (count < rows.size()) {
        rows[count] = {bucket.tag, bucket.live, bucket.blocks};
      }
      ++count;
    }
  }
  return static_cast<int>(count);
}

int Ledger::peak_rows(std::span<Row> rows) const noexcept {
  std::size_t count = 0;
  for (std::uint32_t id = 1; rows_.capacity() > 0 && id < used_; ++id) {
    const Row row = peak_row(rows_[id]);
    if (row.blocks != 0) {
      if (count < rows.size()) {
        rows[count] = row;
      }
      ++count;
    }
  }
  return static_cast<int>(count);
}

std::uint32_t Ledger::rows() const noexcept {
  std::uint32_t count = 0;
  for (std::uint32_t id = 1; rows_.capacity() > 0 && id < used_; ++id) {
    count += id <= kFoldRows || rows_[id].open ? 1 : 0;
  }
  return count;
}

bool Ledger::is_consistent() const noexcept {
  Bytes live = 0;
  Bytes peak = 0;
  std::int64_t blocks = 0;
  bool good = true;
  for (std::uint32_t id = 1; rows_.capacity() > 0 && id < used_; ++id) {
    const Bucket& bucket = rows_[id];
    live += bucket.live;
    blocks += bucket.blocks;
    peak += peak_row(bucket).bytes;
    good = good &&
           (id <= kFoldRows || !bucket.open || find(bucket.tag).value == id);
  }
  return good && live == live_ && blocks == blocks_ && peak == live_peak_;
}

}  // namespace neap::memory
