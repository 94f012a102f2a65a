// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/reduce.hpp"

#include <algorithm>

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/engine/reduce_axes.hpp"
#include "neap/kernels/engine/transpose.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // input elements; a range of one thread
constexpr std::int64_t kBatch = 256;    // rows at a time
constexpr std::int64_t kLine = 64;      // columns of a thread's smallest range
constexpr std::int64_t kGathered = 65536;  // bytes, of elements that lie apart

// A call as the engine sees it.
struct Job {
  Job(const Args& call, std::uint64_t axes, const Reduction& how) noexcept
      : args(call),
        reduction(how),
        parts(call, axes),
        length(parts.reduced.count()),
        width(parts.columns.count()),
        size(size_of(call.in[0].dtype)) {
    block = parts.by_rows ? kReduceBlock : how.block_rows;
    blocks = base::ceil_div(length, block);
  }

  std::int64_t outputs() const noexcept { return parts.kept.count() * width; }
  std::int64_t rows_of(std::int64_t b) const noexcept {
    return std::min(block, length - b * block);
  }
  ReduceSpan span(std::int64_t b) const noexcept {
    return {b * block, block, length};
  }

  /// The lists themselves are divided where outputs are too few for all
  /// threads: what there is of whole rows, or of lines of columns.
  bool divides_lists() const noexcept {
    const std::int64_t threads = args.executor->threads();
    const std::int64_t units = parts.by_rows ? outputs() : outputs() / kLine;
    const bool is_even = units >= 4 * threads || units % threads == 0;
    return threads > 1 && blocks > 1 && outputs() * length >= 4 * kGrain &&
           (units < threads || !is_even);
  }
  Bytes scratch() const noexcept {
    return divides_lists() ? outputs() * blocks * reduction.state : 0;
  }

  const Args& args;
  const Reduction& reduction;
  const ReduceAxes parts;
  std::int64_t length;  // of a list
  std::int64_t width;   // columns; 1 by rows
  std::int64_t block;   // elements of a list
  std::int64_t blocks;
  std::int64_t size;  // bytes of an input element
};

// Lists of which a block each fits the workspace, gathered. REQUIRES: length.
std::int64_t most_gathered(const Job& job) noexcept {
  return std::min(kReduceColumns,
                  kGathered / job.size / std::min(job.block, job.length));
}

// Totals of neighbouring outputs, and what it takes to make them.
struct Workspace {
  alignas(64) std::array<std::byte, kReduceColumns * kReduceState> totals;
  alignas(64) std::array<std::byte, kReduceColumns * kReduceState> parts;
  alignas(64) std::array<std::byte, kGathered> gathered;
  std::array<const std::byte*, kReduceBlock> rows;
};

// Finishes `count` outputs from `first` on, all of one kept index where there
// are columns.
void finish(const Job& job, const std::byte* totals, std::int64_t kept,
            std::int64_t first, std::int64_t count) noexcept {
  alignas(64) std::array<std::array<std::byte, kReduceColumns * 8>, 2> dense;
  ReduceFinish step{job.length, job.args.attrs, {}};
  for (std::size_t k = 0; k < job.args.out.size(); ++k) {
    step.y[k] = dense[k].data();
  }
  job.reduction.finish(totals, count, step);
  const Axes& across = job.parts.by_rows ? job.parts.kept : job.parts.columns;
  for (std::size_t k = 0; k < job.args.out.size(); ++k) {
    const int size = size_of(job.args.out[k].dtype);
    std::byte* y = job.args.out[k].data;
    if (!job.parts.by_rows) {
      y += job.parts.kept.offset(job.parts.kept.out[k], kept) * size;
    }
    scatter({across.extents, across.out[k], size, y}, first, count, step.y[k]);
  }
}

// States of blocks [first, first + count) of the list at `x`.
void row_blocks(const Job& job, const std::byte* x, std::int64_t first,
                std::int64_t count, Workspace& work,
                std::byte* states) noexcept {
  const Axes& list = job.parts.reduced;
  const bool is_dense = list.is_dense();
  for (std::int64_t b = first; b < first + count;) {
    const std::int64_t columns = job.rows_of(b);
    std::int64_t rows = 0;
    if (is_dense) {
      const bool is_full = columns == job.block;
      rows =
          is_full ? std::min(first + count - b, job.length / job.block - b) : 1;
      rows = std::min(rows, kReduceBlock);
      for (std::int64_t r = 0; r < rows; ++r) {
        work.rows[static_cast<std::size_t>(r)] =
            x + (b + r) * job.block * job.size;
      }
    } else {
      rows = 1;
      gather({list.extents, list.in, static_cast<int>(job.size), x},
             b * job.block, columns, work.gathered.data());
      work.rows[0] = work.gathered.data();
    }
    job.reduction.rows({work.rows.data(), rows, columns}, states);
    states += rows * job.reduction.state;
    b += rows;
  }
}

// Rows of at most one dense block each, many at a time.
void reduce_short_rows(const Job& job, std::int64_t begin,
                       std::int64_t end) noexcept {
  Workspace work;
  const Axes& kept = job.parts.kept;
  Walk walk(kept.extents, kept.in, begin);
  while (begin < end) {
    const std::int64_t count = std::min(kBatch, end - begin);
    for (std::int64_t i = 0; i < count; ++i, walk.next()) {
      work.rows[static_cast<std::size_t>(i)] =
          job.args.in[0].data + walk.offset() * job.size;
    }
    job.reduction.start(work.totals.data(), count);
    if (job.length > 0) {
      job.reduction.rows({work.rows.data(), count, job.length},
                         work.parts.data());
      job.reduction.join(work.totals.data(), work.parts.data(), count,
                         job.span(0));
    }
    finish(job, work.totals.data(), 0, begin, count);
    begin += count;
  }
}

void reduce_long_rows(const Job& job, std::int64_t begin,
                      std::int64_t end) noexcept {
  Workspace work;
  const Axes& kept = job.parts.kept;
  Walk walk(kept.extents, kept.in, begin);
  for (std::int64_t i = begin; i < end; ++i, walk.next()) {
    const std::byte* x = job.args.in[0].data + walk.offset() * job.size;
    job.reduction.start(work.totals.data(), 1);
    for (std::int64_t b = 0; b < job.blocks; b += kReduceColumns) {
      const std::int64_t count = std::min(kReduceColumns, job.blocks - b);
      row_blocks(job, x, b, count, work, work.parts.data());
      job.reduction.fold(work.totals.data(), work.parts.data(), count,
                         job.span(b));
    }
    finish(job, work.totals.data(), 0, i, 1);
  }
}

// True where the elements of a row lie apart, and those of neighbouring rows
// next to each other: a transposed matrix.
bool has_transposed_rows(const Job& job) noexcept {
  const Axes& kept = job.parts.kept;
  return job.parts.reduced.extents.rank() == 1 && kept.extents.rank() > 0 &&
         kept.in.back() == 1 && kept.extents.back() > 1;
}

// Blocks of as many rows at a time as are whole cache lines.
void reduce_transposed_rows(const Job& job, std::int64_t begin,
                            std::int64_t end) noexcept {
  Workspace work;
  const Axes& kept = job.parts.kept;
  const std::int64_t most = most_gathered(job);
  const std::int64_t step = job.parts.reduced.in[0];
  while (begin < end) {
    const std::int64_t inner = kept.extents.back();
    const std::int64_t count =
        std::min({most, end - begin, inner - begin % inner});
    const std::byte* x =
        job.args.in[0].data + kept.offset(kept.in, begin) * job.size;
    job.reduction.start(work.totals.data(), count);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const std::int64_t columns = job.rows_of(b);
      transpose_tiles({x + b * job.block * step * job.size,
                       work.gathered.data(), step, columns, count, columns},
                      static_cast<int>(job.size));
      for (std::int64_t r = 0; r < count; ++r) {
        work.rows[static_cast<std::size_t>(r)] =
            work.gathered.data() + r * columns * job.size;
      }
      job.reduction.rows({work.rows.data(), count, columns}, work.parts.data());
      job.reduction.join(work.totals.data(), work.parts.data(), count,
                         job.span(b));
    }
    finish(job, work.totals.data(), 0, begin, count);
    begin += count;
  }
}

void reduce_rows(const Job& job) noexcept {
  const bool is_dense = job.length == 0 || job.parts.reduced.is_dense();
  const bool is_short = job.blocks <= 1 && is_dense;
  const auto function = is_short ? reduce_short_rows
                        : !is_dense && has_transposed_rows(job)
                            ? reduce_transposed_rows
                            : reduce_long_rows;
  threads::parallel_for(*job.args.executor, job.outputs(),
                        kGrain / std::max<std::int64_t>(job.length, 1) + 1,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          function(job, begin, end);
                        });
}

// Columns that fit the workspace at once.
std::int64_t strip(const Job& job) noexcept {
  return job.parts.columns.is_dense() ? kReduceColumns : most_gathered(job);
}

// Columns [first, first + count) of one kept index.
struct Columns {
  std::int64_t kept;
  std::int64_t first;
  std::int64_t count;
};

// Their states, of one block.
void column_block(const Job& job, const Columns& columns, std::int64_t b,
                  Workspace& work, std::byte* states) noexcept {
  const auto [kept, first, count] = columns;
  const Axes& inner = job.parts.columns;
  const bool is_dense = inner.is_dense();
  const int size = static_cast<int>(job.size);
  const std::byte* x =
      job.args.in[0].data +
      job.parts.kept.offset(job.parts.kept.in, kept) * job.size;
  const Axes& reduced = job.parts.reduced;
  const std::int64_t rows = job.rows_of(b);
  if (is_dense && reduced.extents.rank() == 1) {  // evenly apart
    const std::int64_t step = reduced.in[0] * job.size;
    x += b * job.block * step + first * job.size;
    for (std::int64_t r = 0; r < rows; ++r) {
      work.rows[static_cast<std::size_t>(r)] = x + r * step;
    }
    job.reduction.columns({work.rows.data(), rows, count}, states);
    return;
  }
  if (reduced.extents.rank() == 1 && reduced.in[0] == 1 &&
      inner.extents.rank() == 1 && rows > 1) {
    const std::int64_t step = inner.in[0];
    transpose_tiles({x + (b * job.block + first * step) * job.size,
                     work.gathered.data(), step, count, rows, count},
                    size);
    for (std::int64_t r = 0; r < rows; ++r) {
      work.rows[static_cast<std::size_t>(r)] =
          work.gathered.data() + r * count * job.size;
    }
    job.reduction.columns({work.rows.data(), rows, count}, states);
    return;
  }
  Walk walk(reduced.extents, reduced.in, b * job.block);
  for (std::int64_t r = 0; r < rows; ++r, walk.next()) {
    const std::byte* row = x + walk.offset() * job.size;
    if (is_dense) {
      row += first * job.size;
    } else {
      std::byte* copy = work.gathered.data() + r * count * job.size;
      gather({inner.extents, inner.in, size, row}, first, count, copy);
      row = copy;
    }
    work.rows[static_cast<std::size_t>(r)] = row;
  }
  job.reduction.columns({work.rows.data(), rows, count}, states);
}

void reduce_columns(const Job& job) noexcept {
  const auto part = [&](std::int64_t begin, std::int64_t end) noexcept {
    Workspace work;
    const std::int64_t most = job.length == 0 ? kReduceColumns : strip(job);
    while (begin < end) {
      const std::int64_t kept = begin / job.width;
      const std::int64_t first = begin % job.width;
      const std::int64_t count =
          std::min({end - begin, job.width - first, most});
      job.reduction.start(work.totals.data(), count);
      for (std::int64_t b = 0; b < job.blocks; ++b) {
        column_block(job, {kept, first, count}, b, work, work.parts.data());
        job.reduction.join(work.totals.data(), work.parts.data(), count,
                           job.span(b));
      }
      finish(job, work.totals.data(), kept, first, count);
      begin += count;
    }
  };
  // Whole cache lines of columns, and enough work for a thread.
  const std::int64_t grain =
      kGrain / std::max<std::int64_t>(job.length, 1) / kLine;
  threads::parallel_for(*job.args.executor, job.outputs(), (grain + 1) * kLine,
                        part);
}

// States of all columns of one kept index and block.
void column_states(const Job& job, std::int64_t kept, std::int64_t b,
                   Workspace& work, std::byte* states) noexcept {
  const std::int64_t most = strip(job);
  for (std::int64_t first = 0; first < job.width; first += most) {
    const std::int64_t count = std::min(most, job.width - first);
    column_block(job, {kept, first, count}, b, work,
                 states + first * job.reduction.state);
  }
}

// Blocks of lists in parallel, their states in scratch: those of one list one
// after the other by rows, those of one block by columns.
void make_states(const Job& job) noexcept {
  const std::int64_t each = job.width * job.reduction.state;  // of a block
  std::byte* const states = job.args.scratch.data();
  const auto part = [&](std::int64_t begin, std::int64_t end) noexcept {
    Workspace work;
    while (begin < end) {
      const std::int64_t kept = begin / job.blocks;
      const std::int64_t b = begin % job.blocks;
      const std::int64_t count =
          job.parts.by_rows ? std::min(end - begin, job.blocks - b) : 1;
      if (job.parts.by_rows) {
        const Axes& lists = job.parts.kept;
        const std::int64_t at = lists.offset(lists.in, kept) * job.size;
        row_blocks(job, job.args.in[0].data + at, b, count, work,
                   states + begin * each);
      } else {
        column_states(job, kept, b, work, states + begin * each);
      }
      begin += count;
    }
  };
  const std::int64_t grain = kGrain / (job.block * job.width) + 1;
  threads::parallel_for(*job.args.executor, job.parts.kept.count() * job.blocks,
                        grain, part);
}

// The states of one list, or of neighbouring columns, in order.
void join_states(const Job& job, const std::byte* list, std::int64_t first,
                 std::int64_t count, std::byte* totals) noexcept {
  const std::int64_t state = job.reduction.state;
  job.reduction.start(totals, count);
  if (job.parts.by_rows) {
    job.reduction.fold(totals, list, job.blocks, job.span(0));
    return;
  }
  for (std::int64_t b = 0; b < job.blocks; ++b) {
    job.reduction.join(totals, list + (b * job.width + first) * state, count,
                       job.span(b));
  }
}

void reduce_divided(const Job& job) noexcept {
  make_states(job);
  alignas(64) std::array<std::byte, kReduceColumns * kReduceState> totals;
  for (std::int64_t kept = 0; kept < job.parts.kept.count(); ++kept) {
    const std::byte* list = job.args.scratch.data() +
                            kept * job.blocks * job.width * job.reduction.state;
    for (std::int64_t first = 0; first < job.width; first += kReduceColumns) {
      const std::int64_t count = std::min(kReduceColumns, job.width - first);
      join_states(job, list, first, count, totals.data());
      finish(job, totals.data(), kept, job.parts.by_rows ? kept : first, count);
    }
  }
}

}  // namespace

void run_reduction(const Args& args, std::uint64_t axes,
                   const Reduction& reduction) noexcept {
  const Job job(args, axes, reduction);
  if (job.outputs() == 0) {
    return;
  }
  const Bytes scratch = job.scratch();
  if (scratch > 0 && static_cast<Bytes>(args.scratch.size()) >= scratch) {
    reduce_divided(job);
  } else if (job.parts.by_rows) {
    reduce_rows(job);
  } else {
    reduce_columns(job);
  }
}

Bytes reduction_scratch(const Args& args, std::uint64_t axes,
                        const Reduction& reduction) noexcept {
  return Job(args, axes, reduction).scratch();
}

}  // namespace neap::kernels
