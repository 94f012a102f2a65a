// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/gemm/gemm_plan.hpp"
#include "neap/base/ceil_div.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace neap::kernels {
namespace {

using base::ceil_div;

constexpr std::int64_t kBlockK = 384;          // at most
constexpr std::int64_t kSwappedBlockK = 1024;  // C is transposed once a block
constexpr Bytes kBlockBytes = 256 * kKiB;      // of packed B, at most
constexpr std::int64_t kPartWork = 64 * 1024;  // multiply-adds worth a thread
constexpr Bytes kLine = 64;
// Lines this far apart share few places of the level-1 cache.
constexpr Bytes kConflictBytes = 4096;
// B in place costs its misses again for each panel of rows.
constexpr std::int64_t kMostPanelsInPlace = 8;
// A across in place, likewise for each panel of columns.
constexpr std::int64_t kMostColumnPanelsInPlace = 4;

// In cycles for an element, where a vector of multiply-adds takes one.
constexpr double kTransposeCost = 0.28;
constexpr double kCopyCost = 0.125;
// The same of pairs that become bf16.
constexpr double kConvertAlongCost = 0.45;
constexpr double kConvertAcrossCost = 0.2;
constexpr std::int64_t kPairsOfALine = 16;

std::int64_t round_to(std::int64_t a, std::int64_t unit) noexcept {
  return ceil_div(a, unit) * unit;
}

/// `extent` in equal pieces of at most `limit`, rounded up to `unit`.
std::int64_t balanced(std::int64_t extent, std::int64_t limit,
                      std::int64_t unit) noexcept {
  const std::int64_t pieces = ceil_div(std::max(extent, unit), limit);
  return round_to(ceil_div(extent, pieces), unit);
}

/// Cuts the product into this grid; empty parts are dropped.
void set_grid(GemmPlan& plan, const GemmExtents& x, const GemmTile& tile,
              std::int64_t batch_parts, std::int64_t row_parts,
              std::int64_t column_parts) noexcept {
  plan.part_batch = ceil_div(x.batch, batch_parts);
  plan.part_rows = ceil_div(x.m, row_parts);
  plan.part_columns = round_to(ceil_div(x.n, column_parts), tile.lanes);
  plan.batch_parts = ceil_div(x.batch, plan.part_batch);
  plan.row_parts = ceil_div(x.m, plan.part_rows);
  plan.column_parts = ceil_div(x.n, plan.part_columns);
}

/// Time of the largest part, in quarters of a vector multiply-add per k.
/// Packing costs about a quarter for each element.
double cost(const GemmPlan& plan, const GemmTile& tile) noexcept {
  const auto rows = static_cast<double>(plan.part_rows);
  const auto columns = static_cast<double>(plan.part_columns);
  const double products =
      4.0 * rows * columns / static_cast<double>(tile.lanes);
  return static_cast<double>(plan.part_batch) * (products + rows + columns);
}

void choose_grid(GemmPlan& plan, const GemmExtents& x, const GemmTile& tile,
                 int threads) noexcept {
  const double work = static_cast<double>(x.batch) * static_cast<double>(x.m) *
                      static_cast<double>(x.n) * static_cast<double>(x.k);
  const double worth = work / static_cast<double>(kPartWork);
  const std::int64_t most =
      worth < threads ? std::max<std::int64_t>(1, static_cast<int>(worth))
                      : threads;
  double best = std::numeric_limits<double>::infinity();
  for (std::int64_t batches = 1; batches <= std::min(most, x.batch);
       ++batches) {
    for (std::int64_t rows = 1; rows <= std::min(most / batches, x.m); ++rows) {
      GemmPlan candidate = plan;
      set_grid(candidate, x, tile, batches, rows, most / (batches * rows));
      const double candidate_cost = cost(candidate, tile);
      if (candidate_cost < best) {
        best = candidate_cost;
        plan = candidate;
      }
    }
  }
}

/// Whether rows of A this far apart would push each other out of the cache.
bool rows_conflict(std::int64_t stride, const GemmExtents& x) noexcept {
  return stride * x.element_bytes % kConflictBytes == 0;
}

GemmSourceOfA source_of_a(const GemmPlan& plan, const GemmExtents& x,
                          const GemmTile& tile) noexcept {
  if (x.converts || x.widens_a) {
    return GemmSourceOfA::kPacked;
  }
  const std::int64_t panels = ceil_div(plan.part_columns, tile.columns());
  const bool is_short = x.k <= kLine / x.element_bytes;
  if (x.a_column_stride == 1 &&
      (panels == 1 || is_short || !rows_conflict(x.a_row_stride, x))) {
    return GemmSourceOfA::kAlong;
  }
  if (x.a_row_stride == 1 && panels <= kMostColumnPanelsInPlace) {
    return GemmSourceOfA::kAcross;
  }
  return GemmSourceOfA::kPacked;
}

void choose_blocks(GemmPlan& plan, const GemmExtents& x,
                   const GemmTile& tile) noexcept {
  const std::int64_t panel = tile.columns();
  plan.tile_rows = balanced(plan.part_rows, tile.rows, 1);
  plan.source_of_a = source_of_a(plan, x, tile);
  plan.packs_b = x.converts || x.widens_b || x.b_column_stride != 1 ||
                 plan.part_rows > kMostPanelsInPlace * tile.rows;
  // A packed block of B fills the cache; an unpacked one serves all rows.
  plan.block_rows =
      plan.packs_b ? plan.tile_rows : round_to(plan.part_rows, plan.tile_rows);
  const std::int64_t limit_k =
      plan.swaps && plan.packs_b ? kSwappedBlockK : kBlockK;
  plan.block_k = std::max<std::int64_t>(1, balanced(x.k, limit_k, 1));
  const Bytes panel_bytes = plan.block_k * panel * x.element_bytes;
  std::int64_t packed_panels = 1;  // a last panel that is not whole
  if (plan.packs_b) {
    const std::int64_t limit =
        panel * std::max<std::int64_t>(1, kBlockBytes / panel_bytes);
    plan.block_columns = balanced(plan.part_columns, limit, panel);
    packed_panels = plan.block_columns / panel;
  } else {
    plan.block_columns = round_to(plan.part_columns, panel);
  }
  plan.b_bytes = base::round_up(packed_panels * panel_bytes, kLine);
  if (plan.source_of_a == GemmSourceOfA::kPacked) {
    const std::int64_t panels = plan.block_rows / plan.tile_rows;
    const std::int64_t depth =
        x.converts ? round_to(plan.block_k, kPairsOfALine) : plan.block_k;
    plan.a_bytes = base::round_up(
        panels * depth * round_to(tile.rows, 4) * x.element_bytes, kLine);
  }
}

/// Cycles for one k of the whole product in one thread: multiply-adds, and
/// what packing costs.
double cycles(const GemmExtents& x, const GemmTile& tile) noexcept {
  const auto m = static_cast<double>(x.m);
  const auto n = static_cast<double>(x.n);
  double total = m * static_cast<double>(ceil_div(x.n, tile.lanes));
  if (x.converts) {  // rows of A along k are not transposed
    return total + kConvertAcrossCost * m +
           (x.b_column_stride == 1 ? kConvertAcrossCost : kConvertAlongCost) *
               n;
  }
  if (x.b_column_stride != 1) {
    total += kTransposeCost * n;
  } else if (x.widens_b || x.m > kMostPanelsInPlace * tile.rows) {
    total += kCopyCost * n;
  }
  const bool lies_well = x.a_column_stride == 1
                             ? !rows_conflict(x.a_row_stride, x)
                             : x.a_row_stride == 1;
  return lies_well && !x.widens_a ? total : total + kTransposeCost * m;
}

bool swapping_pays(const GemmExtents& x, const GemmTile& tile) noexcept {
  if (x.k == 0) {
    return false;
  }
  const double transposed = static_cast<double>(x.m) *
                            static_cast<double>(x.n) / static_cast<double>(x.k);
  return cycles(x.swapped(), tile) + kTransposeCost * transposed <
         0.97 * cycles(x, tile);
}

}  // namespace

GemmExtents GemmExtents::swapped() const noexcept {
  GemmExtents x = *this;
  std::swap(x.m, x.n);
  std::swap(x.widens_a, x.widens_b);
  x.a_row_stride = b_column_stride;
  x.a_column_stride = b_row_stride;
  x.b_row_stride = a_column_stride;
  x.b_column_stride = a_row_stride;
  return x;
}

GemmPlan plan_gemm(const GemmExtents& extents, const GemmTile& tile,
                   int threads) noexcept {
  GemmPlan plan;
  if (extents.batch == 0 || extents.m == 0 || extents.n == 0) {
    plan.batch_parts = 0;
    return plan;
  }
  plan.swaps = swapping_pays(extents, tile);
  const GemmExtents x = plan.swaps ? extents.swapped() : extents;
  choose_grid(plan, x, tile, threads);
  choose_blocks(plan, x, tile);
  return plan;
}

}  // namespace neap::kernels
