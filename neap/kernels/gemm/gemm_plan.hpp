// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How one matrix product is cut up: a grid of parts for the threads, and inside
// a part, blocks for the caches. Pure integers; the result never depends on it.
//
//          cols: part | part          Inside a part, for each block of columns
//        +-----------+-----------+    and of k: pack the block of B once, then
//   rows |           |  ..block..|    for each block of some panels of rows,
//   part |           |  ..of B ..|    pack these of A and sweep them over the
//        +-----------+-----------+    panels of B.
//
// k is never split over threads. The packed block of B stays in the level-2
// cache beside the packed panels of A. An operand that lies well
// already, or is used too seldom to pay for packing, is read where it lies.
//
// swaps: the product is computed as C^T = B^T A^T, each tile of C transposed
// as it is stored. It pays where C has few rows and B lies along k, since then
// the small operand is packed in place of the large one, and where C has fewer
// columns than a vector has lanes.
#pragma once

#include <cstdint>

#include "neap/base/bytes.hpp"

namespace neap::kernels {

/// The register tile of one instruction set: rows x (2 vectors of lanes).
struct GemmTile {
  std::int64_t rows = 0;
  std::int64_t lanes = 0;
  std::int64_t columns() const noexcept { return 2 * lanes; }
};

/// The extents and strides that a plan is computed from.
struct GemmExtents {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t a_row_stride = 0;
  std::int64_t a_column_stride = 0;
  std::int64_t b_row_stride = 0;
  std::int64_t b_column_stride = 0;
  Bytes element_bytes = 4;  // of a factor: two neighbours along k, if converted
  bool converts = false;    // k counts pairs; packing makes them of both
  bool widens_a = false;    // packing does, so that no tile reads it in place
  bool widens_b = false;

  /// Extents of the transposed product C^T = B^T A^T.
  GemmExtents swapped() const noexcept;
};

/// The form in which a tile reads A.
enum class GemmSourceOfA : std::uint8_t {
  kPacked,
  kAlong,   // in place: the k of one row lie together
  kAcross,  // in place: the rows of one k do
};

struct GemmPlan {
  bool swaps = false;  // what follows is about C^T
  std::int64_t batch_parts = 1;
  std::int64_t row_parts = 1;
  std::int64_t column_parts = 1;
  std::int64_t part_batch = 0;    // products in a part, at most
  std::int64_t part_rows = 0;     // at most
  std::int64_t part_columns = 0;  // at most; a multiple of the tile's lanes
  std::int64_t tile_rows = 0;     // of one panel, at most the tile's
  std::int64_t block_rows = 0;    // a multiple of tile_rows
  std::int64_t block_k = 0;
  std::int64_t block_columns = 0;  // a multiple of the tile's columns
  GemmSourceOfA source_of_a = GemmSourceOfA::kPacked;
  bool packs_b = true;  // false: whole vectors of B are read where they lie
  Bytes a_bytes = 0;    // packed, of one part
  Bytes b_bytes = 0;    // packed, of one part

  std::int64_t parts() const noexcept {
    return batch_parts * row_parts * column_parts;
  }
  Bytes part_bytes() const noexcept { return a_bytes + b_bytes; }
  Bytes scratch_bytes() const noexcept { return parts() * part_bytes(); }
};

GemmPlan plan_gemm(const GemmExtents& extents, const GemmTile& tile,
                   int threads) noexcept;

}  // namespace neap::kernels
