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
#include <type_traits>

#include "hwy/highway.h"
#include "neap/base/ceil_div.hpp"
#include "neap/kernels/gemm/gemm.hpp"
#include "neap/kernels/gemm/gemm_micro_kernels-inl.hpp"
#include "neap/kernels/gemm/gemm_plan.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

/// A part of one product of the batch, and where it packs.
template <class MicroKernels>
class GemmPart {
  using T = typename MicroKernels::Element;
  using Factor = typename MicroKernels::Factor;
  using A = typename MicroKernels::SourceOfA;
  using B = typename MicroKernels::SourceOfB;
  using Tile = TileArgs<T, Factor>;

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
        depth_(base::ceil_div(product.k, MicroKernels::kElements)),
        packed_a_(reinterpret_cast<Factor*>(scratch)),
        packed_b_(reinterpret_cast<Factor*>(scratch + plan.a_bytes)),
        walk_(plan.source_of_a == GemmSourceOfA::kAlong ||
                      (MicroKernels::kConverts && product.a.column_stride == 1)
                  ? Walk::kAlong
                  : Walk::kAcross) {}

  /// The product whose matrices begin here.
  void run(const A* a, const B* b, T* c) {
    a_ = a;
    b_ = b;
    c_ = c;
    for (std::int64_t column = column_begin_; column < column_end_;
         column += plan_.block_columns) {
      const std::int64_t end =
          std::min(column + plan_.block_columns, column_end_);
      std::int64_t k = 0;
      do {  // once at least: without products, C is what the sums begin with
        run_block(column, end, k, std::min(plan_.block_k, depth_ - k));
        k += plan_.block_k;
      } while (k < depth_);
    }
  }

 private:
  static constexpr std::int64_t kPanel = kTileColumns<T>;
  static constexpr std::int64_t kPackedDepth = 64;  // of k at a time

  /// The vectors of columns that a panel of this width takes.
  static std::int64_t vectors_of(std::int64_t width) {
    return width > kLanes<T> ? 2 : 1;
  }

  bool packs_panel(std::int64_t width) const {
    return plan_.packs_b || width % kLanes<T> != 0;
  }

  /// Sets the address at which the tile reads the panel of B from `column` on:
  /// packed, or in place.
  void set_b(Tile& tile, std::int64_t block_begin, std::int64_t column,
             std::int64_t width, std::int64_t k) const {
    const std::int64_t vectors = vectors_of(width);
    tile.last = width - (vectors - 1) * kLanes<T>;
    if constexpr (std::is_same_v<B, Factor>) {
      if (!packs_panel(width)) {
        tile.b = b_at(k, column);
        tile.b_step = product_.b.row_stride;
        return;
      }
    }
    const std::int64_t offset =
        plan_.packs_b ? (column - block_begin) * tile.depth : 0;
    tile.b = packed_b_ + offset;
    tile.b_step = vectors * kLanes<T>;
  }

  void pack_b(std::int64_t begin, std::int64_t end, std::int64_t k,
              std::int64_t depth) {
    for (std::int64_t column = begin; column < end; column += kPanel) {
      const std::int64_t width = std::min(kPanel, end - column);
      if (!packs_panel(width)) {
        continue;
      }
      Factor* to = packed_b_ + (plan_.packs_b ? (column - begin) * depth : 0);
      if (vectors_of(width) == 2) {
        pack_panel_of_b<kPanel>(column, width, k, depth, to);
      } else {
        pack_panel_of_b<kLanes<T>>(column, width, k, depth, to);
      }
    }
  }

  template <std::int64_t kWidth>
  void pack_panel_of_b(std::int64_t column, std::int64_t width, std::int64_t k,
                       std::int64_t depth, Factor* to) const {
    MicroKernels::template pack<kWidth>(
        b_at(k, column), product_.b.column_stride, product_.b.row_stride, width,
        elements(k, depth), to);
  }

  /// The elements along k that `depth` factors from `k` on are made of.
  std::int64_t elements(std::int64_t k, std::int64_t depth) const {
    return std::min(depth * MicroKernels::kElements,
                    product_.k - k * MicroKernels::kElements);
  }

  /// The step from one packed row of pairs along k to the next: whole lines.
  static std::int64_t row_step(std::int64_t depth) {
    return base::ceil_div(depth, kLanes<T>) * kLanes<T>;
  }

  /// Packs the rows [begin, end), panel after panel. All panels take a few
  /// lines of k at a time, so that lines that they share are fetched once.
  void pack_a(std::int64_t begin, std::int64_t end, std::int64_t k,
              std::int64_t depth) {
    if constexpr (MicroKernels::kConverts) {
      if (walk_ == Walk::kAlong) {
        pack_pairs_along(a_at(begin, k), product_.a.row_stride, end - begin,
                         elements(k, depth), packed_a_, row_step(depth));
        return;
      }
    }
    for (std::int64_t done = 0; done < depth; done += kPackedDepth) {
      const std::int64_t some = std::min(kPackedDepth, depth - done);
      Factor* to = packed_a_ + done * kPackedRows;
      for (std::int64_t row = begin; row < end; row += plan_.tile_rows) {
        MicroKernels::template pack<kPackedRows>(
            a_at(row, k + done), product_.a.row_stride,
            product_.a.column_stride, std::min(plan_.tile_rows, end - row),
            elements(k + done, some), to);
        to += depth * kPackedRows;
      }
    }
  }

  /// Sets the address at which the tile reads the panel of A from `row` on,
  /// number `panel` of those that are packed.
  void set_a(Tile& tile, std::int64_t row, std::int64_t panel,
             std::int64_t k) const {
    if constexpr (MicroKernels::kConverts) {
      const bool is_along = walk_ == Walk::kAlong;
      tile.a_step = is_along ? row_step(tile.depth) : kPackedRows;
      tile.a = packed_a_ + panel * (is_along ? plan_.tile_rows * tile.a_step
                                             : tile.depth * kPackedRows);
    } else if constexpr (std::is_same_v<A, Factor>) {
      set_a_where_it_lies(tile, row, panel, k);
    } else {  // the plan packs what is widened
      tile.a = packed_a_ + panel * tile.depth * kPackedRows;
      tile.a_step = kPackedRows;
    }
  }

  void set_a_where_it_lies(Tile& tile, std::int64_t row, std::int64_t panel,
                           std::int64_t k) const {
    switch (plan_.source_of_a) {
      case GemmSourceOfA::kPacked:
        tile.a = packed_a_ + panel * tile.depth * kPackedRows;
        tile.a_step = kPackedRows;
        break;
      case GemmSourceOfA::kAlong:
        tile.a = a_at(row, k);
        tile.a_step = product_.a.row_stride;
        break;
      case GemmSourceOfA::kAcross:
        tile.a = a_at(row, k);
        tile.a_step = product_.a.column_stride;
        break;
    }
  }

  /// All rows of this part x columns [begin, end), for k in [k, k + depth).
  void run_block(std::int64_t begin, std::int64_t end, std::int64_t k,
                 std::int64_t depth) {
    pack_b(begin, end, k, depth);
    for (std::int64_t row = row_begin_; row < row_end_;
         row += plan_.block_rows) {
      const std::int64_t row_end = std::min(row + plan_.block_rows, row_end_);
      if (plan_.source_of_a == GemmSourceOfA::kPacked) {
        pack_a(row, row_end, k, depth);
      }
      for (std::int64_t column = begin; column < end; column += kPanel) {
        run_column(row, row_end, begin, std::min(column + kPanel, end), column,
                   k, depth);
      }
    }
  }

  /// The tiles of one panel of B, whose columns are [column, column_end), for
  /// the rows [begin, end).
  void run_column(std::int64_t begin, std::int64_t end,
                  std::int64_t block_begin, std::int64_t column_end,
                  std::int64_t column, std::int64_t k, std::int64_t depth) {
    Tile tile;
    tile.depth = depth;
    tile.ends_in_relu = product_.end == GemmEnd::kRelu && k + depth == depth_;
    const std::int64_t width = column_end - column;
    set_b(tile, block_begin, column, width, k);
    std::int64_t panel = 0;
    for (std::int64_t row = begin; row < end; row += plan_.tile_rows) {
      const std::int64_t rows = std::min(plan_.tile_rows, end - row);
      set_a(tile, row, panel++, k);
      run_tile_at(tile, {row, rows, column, width}, k == 0);
    }
  }

  /// A rectangle of the product's C.
  struct Place {
    std::int64_t row, rows, column, columns;
  };

  static void run_rows(const Tile& tile, const Place& at, Walk walk) {
    const auto rows = static_cast<std::size_t>(at.rows);
    const bool is_wide = at.columns > kLanes<T>;
    if (walk == Walk::kAlong) {
      (is_wide ? MicroKernels::template run<Walk::kAlong, 2>
               : MicroKernels::template run<Walk::kAlong, 1>)(tile, rows);
    } else {
      (is_wide ? MicroKernels::template run<Walk::kAcross, 2>
               : MicroKernels::template run<Walk::kAcross, 1>)(tile, rows);
    }
  }

  void run_tile_at(Tile& tile, const Place& at, bool is_first) const {
    if (plan_.swaps) {
      run_swapped_tile(tile, at, is_first);
    } else {
      run_plain_tile(tile, at, is_first);
    }
  }

  void run_plain_tile(Tile& tile, const Place& at, bool is_first) const {
    HWY_ALIGN T bias[kPanel];
    tile.c = c_ + at.row * product_.n + at.column;
    tile.c_step = product_.n;
    tile.start = tile.c;
    tile.start_step = tile.c_step;
    if (is_first && product_.start != GemmStart::kC) {
      tile.start = row_of_bias(at, bias);
      tile.start_step = 0;
    } else if (at.row + at.rows < row_end_) {  // the panel below is next
      tile.next_c = tile.c + at.rows * tile.c_step;
    }
    run_rows(tile, at, walk_);
  }

  /// The bias of these columns, or nothing.
  const T* row_of_bias(const Place& at, T* room) const {
    if (product_.start == GemmStart::kZero) {
      return nullptr;
    }
    const T* from = product_.bias + at.column * product_.bias_stride;
    if (product_.bias_stride == 1) {
      return from;
    }
    for (std::int64_t j = 0; j < at.columns; ++j) {
      room[j] = from[j * product_.bias_stride];
    }
    return room;
  }

  /// The tile of C^T: C is its transpose, `product_.m` from row to row.
  void run_swapped_tile(Tile& tile, const Place& at, bool is_first) const {
    HWY_ALIGN T edge[kTileRows * kPanel];
    T* c = c_ + at.column * product_.m + at.row;
    tile.c = edge;
    tile.c_step = kPanel;
    tile.start = edge;
    tile.start_step = kPanel;
    if (is_first && product_.start == GemmStart::kZero) {
      tile.start = nullptr;
    } else if (is_first && product_.start == GemmStart::kBias) {
      for (std::int64_t row = 0; row < at.rows; ++row) {
        std::fill_n(edge + row * kPanel, at.columns,
                    product_.bias[(at.row + row) * product_.bias_stride]);
      }
    } else {
      transpose(c, product_.m, at.columns, at.rows, edge, kPanel);
    }
    run_rows(tile, at, walk_);
    transpose(edge, kPanel, at.rows, at.columns, c, product_.m);
  }

  const A* a_at(std::int64_t row, std::int64_t k) const {
    return a_ + row * product_.a.row_stride +
           k * MicroKernels::kElements * product_.a.column_stride;
  }
  const B* b_at(std::int64_t k, std::int64_t column) const {
    return b_ + k * MicroKernels::kElements * product_.b.row_stride +
           column * product_.b.column_stride;
  }

  const Gemm<T>& product_;
  const GemmPlan& plan_;
  const std::int64_t row_begin_;
  const std::int64_t row_end_;
  const std::int64_t column_begin_;
  const std::int64_t column_end_;
  const std::int64_t depth_;  // the product's k, in factors
  Factor* const packed_a_;    // panels of (depth, kPackedRows)
  Factor* const packed_b_;    // panels of (depth, kPanel)
  const Walk walk_;
  const A* a_ = nullptr;
  const B* b_ = nullptr;
  T* c_ = nullptr;
};

template <class Source, class T>
const Source* first_of(const GemmOperand<T>& operand) {
  if constexpr (std::is_same_v<Source, T>) {
    return operand.data;
  } else {
    return operand.half;
  }
}

/// Part number `part` of the plan. `scratch` is this part's own.
template <class MicroKernels>
void run_part(const Gemm<typename MicroKernels::Element>& product,
              const GemmPlan& plan, std::int64_t part, std::byte* scratch) {
  const std::int64_t grid = plan.row_parts * plan.column_parts;
  const std::int64_t batch_begin = part / grid * plan.part_batch;
  const std::int64_t batch_end =
      std::min(batch_begin + plan.part_batch, gemm_batch_count(product.batch));
  GemmPart<MicroKernels> worker(product, plan, part % grid / plan.column_parts,
                                part % plan.column_parts, scratch);
  for (std::int64_t i = batch_begin; i < batch_end; ++i) {
    const GemmOffsets offsets =
        gemm_offsets(product.batch, product.a_strides, product.b_strides, i);
    worker.run(
        first_of<typename MicroKernels::SourceOfA>(product.a) + offsets.a,
        first_of<typename MicroKernels::SourceOfB>(product.b) + offsets.b,
        product.c + i * product.m * product.n);
  }
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
