// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The order of reductions, and the engine that keeps it. The elements that one
// output is made of are listed in row-major order of the reduced axes. What
// follows depends on the shape and the reduced axes alone: not on strides,
// threads or the instruction set.
//
// Rows: the last axis is reduced (or the rank is 0). The list is cut into
// blocks of kReduceBlock; a block has 16 partial results, element j of the list
// going to partial j mod 16, which are joined by halves (0+8, 1+9, ..; 0+4, ..;
// 0+2, ..; 0+1); partials are of the input's dtype and begin with the neutral
// element. Blocks are joined in order, for sums of floats in double, and the
// result is rounded to the output's dtype.
//
// Columns: the last axis is kept. Each output adds its list in plain index
// order, in its own dtype, beginning with the neutral element (so sums over
// samples run in sample order).
//
// Threads divide outputs, never one sum.
#pragma once

#include <array>

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

inline constexpr std::int64_t kReduceBlock = 1024;  // elements
inline constexpr int kReducePartials = 16;
inline constexpr std::int64_t kReduceColumns = 512;  // accumulators at a time

/// A running result: a double or an element of the output's dtype.
struct alignas(8) Running {
  std::array<std::byte, 8> bytes{};

  template <class T>
  T& as() noexcept {
    return *reinterpret_cast<T*>(bytes.data());
  }
};

struct RowReduction {
  void (*start)(Running& running) noexcept;
  /// Joins `count` <= kReduceBlock dense elements to `running`.
  void (*block)(const std::byte* x, std::int64_t count,
                Running& running) noexcept;
  void (*finish)(Running& running, std::byte* y) noexcept;
};

/// `y` is an array of `count` <= kReduceColumns outputs.
struct ColumnReduction {
  void (*start)(std::byte* y, std::int64_t count) noexcept;
  void (*row)(const std::byte* x, std::byte* y, std::int64_t count) noexcept;
};

/// The larger; NaN if either is.
template <class T>
T larger(T a, T b) noexcept {
  return a > b || a != a ? a : b;
}

/// What a kernel of floats compiles for each instruction set.
struct ReduceFunctions {
  decltype(RowReduction::block) block;
  decltype(ColumnReduction::row) row;
};

/// Reduces in[0] to out[0] over the axes of the bit mask.
void run_reduction(const Args& args, std::uint64_t axes,
                   const RowReduction& rows,
                   const ColumnReduction& columns) noexcept;

}  // namespace neap::kernels
