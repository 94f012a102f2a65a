// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The rows of a batch that is cut into shards, which ranks share out.
#pragma once

#include <algorithm>
#include <cstdint>

namespace neap::base {

/// The rows of each shard, and of each rank: the first shards have one row more
/// where they cannot be of one size, and a rank has as many shards as another,
/// one after the other.
struct RowsOfRanks {
  std::int64_t rows = 0;  // of the batch
  std::int64_t shards = 1;
  std::int64_t ranks = 1;

  /// The first row of a shard; of shard `shards`: the end of the batch.
  std::int64_t first_of_shard(std::int64_t shard) const noexcept {
    return shard * (rows / shards) + std::min(shard, rows % shards);
  }
  std::int64_t shards_of_rank() const noexcept { return shards / ranks; }
  /// The first row of a rank; of rank `ranks`: the end of the batch.
  std::int64_t first_of_rank(std::int64_t rank) const noexcept {
    return first_of_shard(rank * shards_of_rank());
  }
  std::int64_t rows_of_rank(std::int64_t rank) const noexcept {
    return first_of_rank(rank + 1) - first_of_rank(rank);
  }
};

}  // namespace neap::base
