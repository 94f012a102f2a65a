// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/elementwise.hpp"

#include <algorithm>

#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/transpose.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements; a range of one thread
constexpr std::int64_t kPieceElements = 1024;  // where a buffer is needed
// Shorter rows are gathered several at once.
constexpr std::int64_t kMinRow = 64;
// A tile of elements of 4 bytes is whole cache lines of a transposed operand.
constexpr std::int64_t kTileRows = 16;
constexpr std::int64_t kTileColumns = kPieceElements / kTileRows;
constexpr std::int64_t kShortest = 8;  // extents that tiles pay for

enum class Access : std::uint8_t {
  kDirect,      // a piece is dense where it lies
  kConstant,    // one element for all: the buffer is filled once
  kBuffered,    // gathered and scattered
  kTransposed,  // gathered by tiles; an input
};

struct Operand {
  std::byte* data = nullptr;
  int size = 0;  // bytes of an element
  Access access = Access::kDirect;
  bool is_read = true;
  bool is_written = false;
  Shape strides;  // elements, along the axes of Loops::extents
};

struct Loops {
  Shape extents;  // at least one axis
  std::array<Operand, kMaxOperands> operands;
  int operand_count = 0;
  bool is_by_row = false;  // a piece never crosses a row
  bool is_buffered = false;
  int across = -1;  // the axis that transposed operands are dense along

  std::span<const Operand> all() const noexcept {
    return {operands.data(), static_cast<std::size_t>(operand_count)};
  }
};

using Buffers =
    std::array<std::array<std::byte, kPieceElements * 8>, kMaxOperands>;

void add_operand(Loops& loops, const Strided& view, const Shape& shape,
                 bool is_read, bool is_written) noexcept {
  Operand& operand =
      loops.operands[static_cast<std::size_t>(loops.operand_count++)];
  operand.data = view.data;
  operand.size = size_of(view.dtype);
  operand.is_read = is_read;
  operand.is_written = is_written;
  operand.strides = broadcast_strides(view, shape);
}

// True when stepping over the whole of axis + 1 is one step of `axis`.
bool can_merge(const Loops& loops, int axis) noexcept {
  return std::ranges::all_of(loops.all(), [&](const Operand& operand) {
    return operand.strides[axis] ==
           operand.strides[axis + 1] * loops.extents[axis + 1];
  });
}

void erase_axis(Loops& loops, int axis) noexcept {
  loops.extents.erase(axis);
  for (int k = 0; k < loops.operand_count; ++k) {
    loops.operands[static_cast<std::size_t>(k)].strides.erase(axis);
  }
}

// Drops axes of extent 1 and merges neighbours; the logical order stays.
void simplify(Loops& loops) noexcept {
  for (int axis = loops.extents.rank() - 1; axis >= 0; --axis) {
    if (loops.extents[axis] == 1) {
      erase_axis(loops, axis);
    } else if (axis + 1 < loops.extents.rank() && can_merge(loops, axis)) {
      loops.extents[axis + 1] *= loops.extents[axis];
      erase_axis(loops, axis);
    }
  }
  if (loops.extents.rank() == 0) {
    loops.extents.push_back(1);
    for (int k = 0; k < loops.operand_count; ++k) {
      loops.operands[static_cast<std::size_t>(k)].strides.push_back(1);
    }
  }
}

void choose_access(Loops& loops) noexcept {
  loops.is_by_row = loops.extents.back() >= kMinRow;
  for (int k = 0; k < loops.operand_count; ++k) {
    Operand& operand = loops.operands[static_cast<std::size_t>(k)];
    const bool is_constant =
        std::ranges::all_of(operand.strides.span(),
                            [](std::int64_t stride) { return stride == 0; });
    if (strides_are_dense(loops.extents, operand.strides) ||
        (loops.is_by_row && operand.strides.back() == 1)) {
      operand.access = Access::kDirect;
    } else {
      operand.access = is_constant ? Access::kConstant : Access::kBuffered;
      loops.is_buffered = true;
    }
  }
}

// The axis other than the last that a buffered input is dense along; -1: none.
int transposed_axis(const Loops& loops, const Operand& operand) noexcept {
  const int last = loops.extents.rank() - 1;
  if (operand.access != Access::kBuffered || operand.is_written ||
      operand.strides[last] == 0 || loops.extents[last] < kShortest) {
    return -1;
  }
  for (int axis = 0; axis < last; ++axis) {
    if (operand.strides[axis] == 1 && loops.extents[axis] >= kShortest) {
      return axis;
    }
  }
  return -1;
}

// All transposed operands of one tile are dense along one axis: the first's.
void choose_tiles(Loops& loops) noexcept {
  for (int k = 0; k < loops.operand_count; ++k) {
    Operand& operand = loops.operands[static_cast<std::size_t>(k)];
    const int axis = transposed_axis(loops, operand);
    if (axis >= 0 && (loops.across < 0 || loops.across == axis)) {
      loops.across = axis;
      operand.access = Access::kTransposed;
    }
  }
}

Loops plan(const Args& args, OutputUse use) noexcept {
  Loops loops;
  loops.extents = args.out[0].shape;
  for (const Strided& view : args.in) {
    add_operand(loops, view, loops.extents, true, false);
  }
  for (const Strided& view : args.out) {
    add_operand(loops, view, loops.extents, use == OutputUse::kUpdates, true);
  }
  simplify(loops);
  choose_access(loops);
  choose_tiles(loops);
  return loops;
}

Shape row_major(const Shape& extents) noexcept {
  Shape strides = extents;
  std::int64_t step = 1;
  for (int axis = extents.rank() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= extents[axis];
  }
  return strides;
}

void run_piece(const Loops& loops, PieceFunction function, Piece& piece,
               Buffers& buffers) noexcept {
  for (std::size_t k = 0; k < loops.all().size(); ++k) {
    const Operand& operand = loops.operands[k];
    if (operand.access == Access::kDirect) {
      piece.data[k] =
          operand.data +
          offset_at(loops.extents, operand.strides, piece.first) * operand.size;
    } else if (operand.access == Access::kBuffered && operand.is_read) {
      gather({loops.extents, operand.strides, operand.size, operand.data},
             piece.first, piece.count, buffers[k].data());
    }
  }
  function(piece);
  for (std::size_t k = 0; k < loops.all().size(); ++k) {
    const Operand& operand = loops.operands[k];
    if (operand.access == Access::kBuffered && operand.is_written) {
      scatter({loops.extents, operand.strides, operand.size, operand.data},
              piece.first, piece.count, buffers[k].data());
    }
  }
}

// Fills the buffers of constants.
Piece first_piece(const Loops& loops, const void* attrs, std::int64_t count,
                  Buffers& buffers) noexcept {
  Piece piece;
  piece.attrs = attrs;
  for (std::size_t k = 0; k < loops.all().size(); ++k) {
    const Operand& operand = loops.operands[k];
    piece.data[k] = buffers[k].data();
    if (operand.access == Access::kConstant) {
      move_run(operand.size, operand.data, 0, buffers[k].data(), 1,
               std::min(kPieceElements, count));
    }
  }
  return piece;
}

void run_range(const Loops& loops, PieceFunction function, const void* attrs,
               std::int64_t begin, std::int64_t end) noexcept {
  alignas(64) Buffers buffers;
  Piece piece = first_piece(loops, attrs, end - begin, buffers);
  const std::int64_t inner = loops.extents.back();
  for (piece.first = begin; piece.first < end; piece.first += piece.count) {
    piece.count = end - piece.first;
    if (loops.is_by_row) {
      piece.count = std::min(piece.count, inner - piece.first % inner);
    }
    if (loops.is_buffered) {
      piece.count = std::min(piece.count, kPieceElements);
    }
    run_piece(loops, function, piece, buffers);
  }
}

// Tiles of kTileRows positions along the axis `across` by kTileColumns along
// the last one. They are numbered by the other axes, then by bands, then by
// blocks of columns.
class Tiles {
 public:
  Tiles(const Loops& loops, PieceFunction function, const void* attrs) noexcept
      : loops_(loops),
        function_(function),
        attrs_(attrs),
        strides_(row_major(loops.extents)),
        bands_((loops.extents[loops.across] - 1) / kTileRows + 1),
        blocks_((loops.extents.back() - 1) / kTileColumns + 1),
        outer_(loops.extents) {
    outer_[loops.across] = 1;
    outer_[outer_.rank() - 1] = 1;
  }

  std::int64_t count() const noexcept {
    return outer_.element_count() * bands_ * blocks_;
  }

  void run(std::int64_t begin, std::int64_t end) const noexcept {
    alignas(64) Buffers buffers;
    Piece piece = first_piece(loops_, attrs_, kPieceElements, buffers);
    for (std::int64_t tile = begin; tile < end; ++tile) {
      run_tile(tile, piece, buffers);
    }
  }

 private:
  void run_tile(std::int64_t tile, Piece& piece,
                Buffers& buffers) const noexcept {
    const std::int64_t outer = tile / blocks_ / bands_;
    const std::int64_t row = tile / blocks_ % bands_ * kTileRows;
    const std::int64_t column = tile % blocks_ * kTileColumns;
    const auto offset = [&](const Shape& strides) noexcept {
      return offset_at(outer_, strides, outer) + row * strides[loops_.across] +
             column * strides.back();
    };
    const std::int64_t rows =
        std::min(kTileRows, loops_.extents[loops_.across] - row);
    piece.count = std::min(kTileColumns, loops_.extents.back() - column);
    piece.first = offset(strides_);
    std::array<std::byte*, kMaxOperands> at{};
    for (std::size_t k = 0; k < loops_.all().size(); ++k) {
      const Operand& operand = loops_.operands[k];
      at[k] = operand.data + offset(operand.strides) * operand.size;
      if (operand.access == Access::kTransposed) {
        transpose_tiles({at[k], buffers[k].data(), operand.strides.back(),
                         kTileColumns, rows, piece.count},
                        operand.size);
      }
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      run_row(r, at, piece, buffers);
      piece.first += strides_[loops_.across];
    }
  }

  // Row r of a tile whose operands begin `at`.
  void run_row(std::int64_t r, const std::array<std::byte*, kMaxOperands>& at,
               Piece& piece, Buffers& buffers) const noexcept {
    const auto place = [&](std::size_t k) noexcept {
      const Operand& operand = loops_.operands[k];
      return at[k] + r * operand.strides[loops_.across] * operand.size;
    };
    for (std::size_t k = 0; k < loops_.all().size(); ++k) {
      const Operand& operand = loops_.operands[k];
      if (operand.access == Access::kTransposed) {
        piece.data[k] = buffers[k].data() + r * kTileColumns * operand.size;
      } else if (operand.strides.back() == 1) {
        piece.data[k] = place(k);
      } else if (operand.access == Access::kBuffered && operand.is_read) {
        move_run(operand.size, place(k), operand.strides.back(),
                 buffers[k].data(), 1, piece.count);
      }
    }
    function_(piece);
    for (std::size_t k = 0; k < loops_.all().size(); ++k) {
      const Operand& operand = loops_.operands[k];
      if (operand.is_written && operand.strides.back() != 1) {
        move_run(operand.size, buffers[k].data(), 1, place(k),
                 operand.strides.back(), piece.count);
      }
    }
  }

  const Loops& loops_;
  PieceFunction function_;
  const void* attrs_;
  Shape strides_;  // of logical indices
  std::int64_t bands_;
  std::int64_t blocks_;
  Shape outer_;  // extents of the other axes
};

// Most calls on small tensors are one piece: every operand lies dense in the
// order of the output, or is one number. False: it is not so simple.
bool run_at_once(const Args& args, PieceFunction function,
                 std::int64_t count) noexcept {
  const Shape& shape = args.out[0].shape;
  Piece piece;
  piece.count = count;
  piece.attrs = args.attrs;
  std::size_t operand = 0;
  alignas(64) std::byte number[kPieceElements * 8];  // NOLINT(*-c-arrays)
  bool has_number = false;
  const auto add = [&](const Strided& view, bool may_repeat) noexcept {
    std::byte*& data = piece.data[operand++];
    if (view.shape == shape && strides_are_dense(shape, view.strides)) {
      data = view.data;
      return true;
    }
    if (!may_repeat || has_number || count > kPieceElements ||
        view.shape.element_count() != 1) {
      return false;
    }
    move_run(size_of(view.dtype), view.data, 0, number, 1, count);
    has_number = true;
    data = number;
    return true;
  };
  for (const Strided& view : args.in) {
    if (!add(view, true)) {
      return false;
    }
  }
  for (const Strided& view : args.out) {
    if (!add(view, false)) {
      return false;
    }
  }
  function(piece);
  return true;
}

}  // namespace

void run_elementwise(const Args& args, PieceFunction function,
                     OutputUse use) noexcept {
  const std::int64_t count = args.out[0].shape.element_count();
  if (count == 0) {
    return;
  }
  if (count <= kGrain && run_at_once(args, function, count)) {
    return;
  }
  const Loops loops = plan(args, use);
  if (loops.across >= 0) {
    const Tiles tiles(loops, function, args.attrs);
    threads::parallel_for(*args.executor, tiles.count(),
                          kGrain / kPieceElements,
                          [&](std::int64_t begin, std::int64_t end) noexcept {
                            tiles.run(begin, end);
                          });
    return;
  }
  threads::parallel_for(*args.executor, count, kGrain,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          run_range(loops, function, args.attrs, begin, end);
                        });
}

}  // namespace neap::kernels
