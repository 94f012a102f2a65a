// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The order of reductions, and the engine that keeps it. The elements that one
// output is made of are listed in row-major order of the reduced axes, and the
// list is cut into blocks. What follows depends on the shape, the dtype and the
// reduced axes alone: not on strides, threads or the instruction set.
//
// Rows: the last axis is reduced (or the rank is 0). A block is kReduceBlock
// elements. It has kReducePartials partial results, element j going to partial
// j mod kReducePartials, which are joined by halves (with 8: 0+4, 1+5, 2+6,
// 3+7; 0+2, 1+3; 0+1); partials begin with the neutral element.
//
// Columns: the last axis is kept. A block is kReduceBlock elements too (fewer
// where a kernel says so), joined in plain index order beginning with the
// neutral element.
//
//   f32 list   | 1024 in f32 | 1024 in f32 | rest in f32 |
//   f64 total  0 ----- + ---------- + ------------ + ----> rounded once
//
// Both: the results of blocks are joined in order, for sums of floats in
// double, and the total is rounded to the output's dtype. So a sum can be
// continued by who keeps (the total in double, the block begun in its own
// dtype), a list of at most 1024 elements is added in plain order where it is a
// column, and the rounding error does not grow with the list beyond a block's.
//
// Threads divide outputs; where these are too few, blocks, whose results are
// then kept in scratch and joined in the same order.
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

inline constexpr std::int64_t kReduceBlock = 1024;    // elements
inline constexpr std::int64_t kReduceColumns = 1024;  // outputs at a time
inline constexpr std::int64_t kReduceState = 16;      // bytes, of one output

/// Partial results of a block of a row: 64 of f32, 32 of f64.
template <class T>
inline constexpr int kReducePartials = 256 / static_cast<int>(sizeof(T));

/// Rows of dense elements. As `rows` of a reduction one block each; as
/// `columns` the rows are one block.
struct Tile {
  const std::byte* const* rows = nullptr;
  std::int64_t row_count = 0;
  std::int64_t columns = 0;

  template <class T>
  const T* row(std::int64_t i) const noexcept {
    return reinterpret_cast<const T*>(rows[i]);
  }
};

/// Arguments of the last step of a reduction.
struct ReduceFinish {
  std::int64_t length = 0;  // elements that each output is made of
  const void* attrs = nullptr;
  std::array<std::byte*, 2> y{};  // one dense array for each output

  template <class T>
  T* at(std::size_t k) const noexcept {
    return reinterpret_cast<T*>(y[k]);
  }
  template <class T>
  const T& attrs_as() const noexcept {
    return *static_cast<const T*>(attrs);
  }
};

/// How many elements a total holds, and the list as a whole.
struct ReduceSpan {
  std::int64_t before = 0;
  std::int64_t block = kReduceBlock;
  std::int64_t length = 0;
};

/// A reduction as functions over arrays of states, one state an output.
/// reduce-inl.hpp makes one from a small class.
struct Reduction {
  std::int64_t state = 0;  // bytes, at most kReduceState
  std::int64_t block_rows = kReduceBlock;
  void (*start)(std::byte* states, std::int64_t count) noexcept = nullptr;
  /// A state for each row (at most kReduceBlock elements), or each column (at
  /// most block_rows elements, at most kReduceColumns columns).
  void (*rows)(const Tile& tile, std::byte* states) noexcept = nullptr;
  void (*columns)(const Tile& tile, std::byte* states) noexcept = nullptr;
  /// Joins the block at span.before to each of `count` totals.
  void (*join)(std::byte* totals, const std::byte* parts, std::int64_t count,
               const ReduceSpan& span) noexcept = nullptr;
  /// Joins `count` blocks to one total, in order.
  void (*fold)(std::byte* total, const std::byte* parts, std::int64_t count,
               const ReduceSpan& span) noexcept = nullptr;
  void (*finish)(const std::byte* totals, std::int64_t count,
                 const ReduceFinish& finish) noexcept = nullptr;
};

/// The larger, or the smaller; NaN if either is; b where they are equal.
template <class T>
T larger(T a, T b) noexcept {
  return a > b || a != a ? a : b;
}
template <class T>
T smaller(T a, T b) noexcept {
  return a < b || a != a ? a : b;
}

/// Reduces in[0] to the outputs over the axes of the bit mask.
void run_reduction(const Args& args, std::uint64_t axes,
                   const Reduction& reduction) noexcept;

/// Scratch for the same call; without it (args.scratch empty) the call works
/// all the same, on fewer threads.
Bytes reduction_scratch(const Args& args, std::uint64_t axes,
                        const Reduction& reduction) noexcept;

}  // namespace neap::kernels
