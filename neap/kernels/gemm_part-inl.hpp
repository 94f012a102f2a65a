// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One part of a planned matrix product, in one thread: the loops over blocks,
// panels and tiles. Compiled once for each instruction set; included by
// gemm.cpp alone.
#if defined(NEAP_KERNELS_GEMM_PART_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_GEMM_PART_INL
#undef NEAP_KERNELS_GEMM_PART_INL
#else
#define NEAP_KERNELS_GEMM_PART_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/gemm.hpp"
#include "neap/kernels/gemm_pack-inl.hpp"
#include "neap/kernels/gemm_plan.hpp"
#include "neap/kernels/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

/// One part of one product of the batch, and where it packs.
template <class T>
class GemmPart {
 public:
  /// Rows [row_begin, row_end) and columns [column_begin, column_end) of C.
  GemmPart(const Gemm<T>& product, const GemmPlan& plan, std::int64_t row_part,
           std::int64_t column_part, std::byte* scratch)
      : product_(product),
        plan_(plan),
        row_begin_(row_part * plan.part_rows),
        row_end_(std::min(row_begin_ + plan.part_rows, product.m)),
        column_begin_(column_part * plan.part_columns),
        column_end_(std::min(column_begin_ + plan.part_columns, product.n)),
        packed_a_(reinterpret_cast<T*>(scratch)),
        packed_b_(reinterpret_cast<T*>(scratch + plan.a_bytes)) {}

  /// The product whose matrices begin here.
  void run(const T* a, const T* b, T* c) {
    a_ = a;
    b_ = b;
    c_ = c;
    for (std::int64_t column = column_begin_; column < column_end_;
         column += plan_.block_columns) {
      const std::int64_t end =
          std::min(column + plan_.block_columns, column_end_);
      std::int64_t k = 0;
      do {  // once at least: without products, C is what the sums begin with
        run_block(column, end, k, std::min(plan_.block_k, product_.k - k));
        k += plan_.block_k;
      } while (k < product_.k);
    }
  }

 private:
  static constexpr std::int64_t kPanel = kTileColumns<T>;

  /// Where the tile reads a panel of B.
  struct PanelOfB {
    const T* data;
    std::int64_t k_step;
  };

  /// Packed, or where it lies: the panel of B from `column` on.
  PanelOfB panel_of_b(std::int64_t block_begin, std::int64_t column,
                      std::int64_t width, std::int64_t k,
                      std::int64_t depth) const {
    if (plan_.packs_b) {
      return {packed_b_ + (column - block_begin) * depth, kPanel};
    }
    if (width == kPanel) {
      return {b_at(k, column), product_.b.row_stride};
    }
    return {packed_b_, kPanel};
  }

  void pack_b(std::int64_t begin, std::int64_t end, std::int64_t k,
              std::int64_t depth) {
    for (std::int64_t column = begin; column < end; column += kPanel) {
      const std::int64_t width = std::min(kPanel, end - column);
      if (plan_.packs_b || width < kPanel) {
        T* to = packed_b_ + (plan_.packs_b ? (column - begin) * depth : 0);
        pack_panel<kPanel>(b_at(k, column), product_.b.column_stride,
                           product_.b.row_stride, width, depth, to);
      }
    }
  }

  /// All rows of this part x columns [begin, end), for k in [k, k + depth).
  void run_block(std::int64_t begin, std::int64_t end, std::int64_t k,
                 std::int64_t depth) {
    pack_b(begin, end, k, depth);
    for (std::int64_t row = row_begin_; row < row_end_; row += kTileRows) {
      const std::int64_t rows =
          std::min<std::int64_t>(kTileRows, row_end_ - row);
      TileArgs<T> tile;
      tile.depth = depth;
      if (plan_.packs_a) {
        pack_panel<kTileRows>(a_at(row, k), product_.a.row_stride,
                              product_.a.column_stride, rows, depth, packed_a_);
        tile.a = packed_a_;
        tile.a_row_step = 1;
        tile.a_k_step = kTileRows;
      } else {
        tile.a = a_at(row, k);
        tile.a_row_step = product_.a.row_stride;
        tile.a_k_step = product_.a.column_stride;
      }
      for (std::int64_t column = begin; column < end; column += kPanel) {
        const std::int64_t width = std::min(kPanel, end - column);
        const PanelOfB panel = panel_of_b(begin, column, width, k, depth);
        tile.b = panel.data;
        tile.b_k_step = panel.k_step;
        run_tile_at(tile, row, rows, column, width, k == 0);
      }
    }
  }

  /// Lends the tile a C of whole vectors where C has fewer columns.
  void run_tile_at(TileArgs<T> tile, std::int64_t row, std::int64_t rows,
                   std::int64_t column, std::int64_t width,
                   bool is_first) const {
    HWY_ALIGN T edge[kTileRows * kPanel];
    HWY_ALIGN T bias[kPanel];
    const bool is_wide = width > kLanes<T>;
    const bool is_edge = width != (is_wide ? kPanel : kLanes<T>);
    T* c = c_ + row * product_.n + column;
    tile.c = is_edge ? edge : c;
    tile.c_row_step = is_edge ? kPanel : product_.n;
    tile.start = tile.c;
    tile.start_row_step = tile.c_row_step;
    if (is_first && product_.start != GemmStart::kC) {
      copy_start_row(column, width, bias);
      tile.start = bias;
      tile.start_row_step = 0;
    } else if (is_edge) {
      copy_rows(c, product_.n, rows, width, edge, kPanel);
    }
    const auto index = static_cast<std::size_t>(rows - 1);
    (is_wide ? kTiles<2, T>[index] : kTiles<1, T>[index])(tile);
    if (is_edge) {
      copy_rows(edge, kPanel, rows, width, c, product_.n);
    }
  }

  /// The row of the bias, or zeros, that every row of C begins with.
  void copy_start_row(std::int64_t column, std::int64_t width, T* to) const {
    std::fill_n(to, kPanel, T{0});
    if (product_.start == GemmStart::kBias) {
      const T* from = product_.bias + column * product_.bias_stride;
      for (std::int64_t j = 0; j < width; ++j) {
        to[j] = from[j * product_.bias_stride];
      }
    }
  }

  static void copy_rows(const T* from, std::int64_t from_step,
                        std::int64_t rows, std::int64_t width, T* to,
                        std::int64_t to_step) {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(from + row * from_step, width, to + row * to_step);
    }
  }

  const T* a_at(std::int64_t row, std::int64_t k) const {
    return a_ + row * product_.a.row_stride + k * product_.a.column_stride;
  }
  const T* b_at(std::int64_t k, std::int64_t column) const {
    return b_ + k * product_.b.row_stride + column * product_.b.column_stride;
  }

  const Gemm<T>& product_;
  const GemmPlan& plan_;
  const std::int64_t row_begin_;
  const std::int64_t row_end_;
  const std::int64_t column_begin_;
  const std::int64_t column_end_;
  T* const packed_a_;  // (depth, kTileRows)
  T* const packed_b_;  // panels of (depth, kPanel)
  const T* a_ = nullptr;
  const T* b_ = nullptr;
  T* c_ = nullptr;
};

/// Part number `part` of the plan. `scratch` is this part's own.
template <class T>
void run_part(const Gemm<T>& product, const GemmPlan& plan, std::int64_t part,
              std::byte* scratch) {
  const std::int64_t grid = plan.row_parts * plan.column_parts;
  const std::int64_t batch_begin = part / grid * plan.part_batch;
  const std::int64_t batch_end =
      std::min(batch_begin + plan.part_batch, gemm_batch_count(product.batch));
  GemmPart<T> worker(product, plan, part % grid / plan.column_parts,
                     part % plan.column_parts, scratch);
  for (std::int64_t i = batch_begin; i < batch_end; ++i) {
    const GemmOffsets offsets =
        gemm_offsets(product.batch, product.a_strides, product.b_strides, i);
    worker.run(product.a.data + offsets.a, product.b.data + offsets.b,
               product.c + i * product.m * product.n);
  }
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
