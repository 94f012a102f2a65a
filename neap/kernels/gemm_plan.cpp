// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/gemm_plan.hpp"

#include <algorithm>
#include <limits>

namespace neap::kernels {
namespace {

constexpr std::int64_t kBlockK = 256;           // at most
constexpr Bytes kBlockBytes = 256 * kKiB;       // of packed B, at most
constexpr std::int64_t kPartWork = 256 * 1024;  // multiply-adds worth a thread
constexpr Bytes kLine = 64;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept {
  return (a + b - 1) / b;
}

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

void choose_blocks(GemmPlan& plan, const GemmExtents& x,
                   const GemmTile& tile) noexcept {
  const std::int64_t panel = tile.columns();
  plan.packs_a = plan.part_columns > tile.lanes;
  plan.packs_b = plan.part_rows > tile.rows || !x.b_rows_are_dense;
  plan.block_k = std::max<std::int64_t>(1, balanced(x.k, kBlockK, 1));
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
  if (plan.packs_a) {
    plan.a_bytes =
        base::round_up(plan.block_k * tile.rows * x.element_bytes, kLine);
  }
}

}  // namespace

GemmPlan plan_gemm(const GemmExtents& extents, const GemmTile& tile,
                   int threads) noexcept {
  GemmPlan plan;
  if (extents.batch == 0 || extents.m == 0 || extents.n == 0) {
    plan.batch_parts = 0;
    return plan;
  }
  choose_grid(plan, extents, tile, threads);
  choose_blocks(plan, extents, tile);
  return plan;
}

}  // namespace neap::kernels
