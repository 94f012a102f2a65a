// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduce.hpp"

#include <algorithm>

#include "neap/kernels/strides.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // input elements; a range of one thread

// Axes of one kind, with the strides of in[0] and out[0] along them.
struct Axes {
  Shape extents;
  Shape in;
  Shape out;

  void push_back(std::int64_t extent, std::int64_t in_stride,
                 std::int64_t out_stride) noexcept {
    extents.push_back(extent);
    in.push_back(in_stride);
    out.push_back(out_stride);
  }
};

struct Split {
  Axes kept;  // but for the columns
  Axes reduced;
  Axes columns;  // the kept axes after the last reduced one
};

Split split(const Strided& x, const Strided& y, std::uint64_t axes) noexcept {
  Split parts;
  int first_column = x.shape.rank();
  while (first_column > 0 && (axes >> (first_column - 1) & 1U) == 0) {
    --first_column;
  }
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    const bool is_reduced = (axes >> axis & 1U) != 0;
    Axes& part = is_reduced             ? parts.reduced
                 : axis >= first_column ? parts.columns
                                        : parts.kept;
    // Without elements there is nothing to step over, and no data.
    part.push_back(x.shape[axis], x.data != nullptr ? x.strides[axis] : 0,
                   y.strides[axis]);
  }
  return parts;
}

// The list of elements of one output, read in blocks.
void reduce_row(const Split& parts, const RowReduction& rows, int size,
                const std::byte* x, std::byte* y) noexcept {
  alignas(64) std::array<std::byte, kReduceBlock * 8> buffer;
  const std::int64_t count = parts.reduced.extents.element_count();
  const bool is_dense =
      strides_are_dense(parts.reduced.extents, parts.reduced.in);
  Running running;
  rows.start(running);
  for (std::int64_t first = 0; first < count; first += kReduceBlock) {
    const std::int64_t block = std::min(kReduceBlock, count - first);
    if (is_dense) {
      rows.block(x + first * size, block, running);
    } else {
      gather(parts.reduced.extents, parts.reduced.in, size, x, first, block,
             buffer.data());
      rows.block(buffer.data(), block, running);
    }
  }
  rows.finish(running, y);
}

void reduce_rows(const Args& args, const Split& parts,
                 const RowReduction& rows) noexcept {
  const Strided& x = args.in[0];
  const Strided& y = args.out[0];
  const Axes& kept = parts.kept;
  const std::int64_t length = parts.reduced.extents.element_count();
  const auto part = [&](std::int64_t begin, std::int64_t end) noexcept {
    for (std::int64_t i = begin; i < end; ++i) {
      reduce_row(
          parts, rows, size_of(x.dtype),
          x.data + offset_at(kept.extents, kept.in, i) * size_of(x.dtype),
          y.data + offset_at(kept.extents, kept.out, i) * size_of(y.dtype));
    }
  };
  threads::parallel_for(*args.executor, kept.extents.element_count(),
                        kGrain / std::max<std::int64_t>(length, 1) + 1, part);
}

// Columns [first, first + count) of one kept index.
void reduce_columns_of(const Args& args, const Split& parts,
                       const ColumnReduction& columns, std::int64_t kept,
                       std::int64_t first, std::int64_t count) noexcept {
  alignas(64) std::array<std::byte, kReduceColumns * 8> sums;
  alignas(64) std::array<std::byte, kReduceColumns * 8> buffer;
  const int in_size = size_of(args.in[0].dtype);
  const int out_size = size_of(args.out[0].dtype);
  const Axes& reduced = parts.reduced;
  const Axes& inner = parts.columns;
  const std::byte* x =
      args.in[0].data +
      offset_at(parts.kept.extents, parts.kept.in, kept) * in_size;
  const bool is_dense = strides_are_dense(inner.extents, inner.in);
  columns.start(sums.data(), count);
  const std::int64_t rows = reduced.extents.element_count();
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::byte* row =
        x + offset_at(reduced.extents, reduced.in, r) * in_size;
    if (is_dense) {
      columns.row(row + first * in_size, sums.data(), count);
    } else {
      gather(inner.extents, inner.in, in_size, row, first, count,
             buffer.data());
      columns.row(buffer.data(), sums.data(), count);
    }
  }
  std::byte* y = args.out[0].data +
                 offset_at(parts.kept.extents, parts.kept.out, kept) * out_size;
  scatter(inner.extents, inner.out, out_size, y, first, count, sums.data());
}

void reduce_columns(const Args& args, const Split& parts,
                    const ColumnReduction& columns) noexcept {
  const std::int64_t width = parts.columns.extents.element_count();
  const std::int64_t outputs = parts.kept.extents.element_count() * width;
  const std::int64_t height = parts.reduced.extents.element_count();
  const auto part = [&](std::int64_t begin, std::int64_t end) noexcept {
    while (begin < end) {
      const std::int64_t first = begin % width;
      const std::int64_t count =
          std::min({end - begin, width - first, kReduceColumns});
      reduce_columns_of(args, parts, columns, begin / width, first, count);
      begin += count;
    }
  };
  // Whole cache lines of columns, and enough work for a thread.
  const std::int64_t grain = kGrain / std::max<std::int64_t>(height, 1) / 16;
  threads::parallel_for(*args.executor, outputs, (grain + 1) * 16, part);
}

}  // namespace

void run_reduction(const Args& args, std::uint64_t axes,
                   const RowReduction& rows,
                   const ColumnReduction& columns) noexcept {
  const Strided& x = args.in[0];
  if (args.out[0].shape.element_count() == 0) {
    return;
  }
  const Split parts = split(x, args.out[0], axes);
  if (parts.columns.extents.rank() == 0) {
    reduce_rows(args, parts, rows);
  } else {
    reduce_columns(args, parts, columns);
  }
}

}  // namespace neap::kernels
