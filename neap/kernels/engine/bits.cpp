// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/bits.hpp"

#include <array>

#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements; a range of one thread
constexpr std::int64_t kChunk = 512;    // elements, where a buffer is needed

class Operand {
 public:
  explicit Operand(const Strided& view) noexcept
      : view_(view),
        size_(size_of(view.dtype)),
        is_dense_(strides_are_dense(view.shape, view.strides)) {}

  bool is_dense() const noexcept { return is_dense_; }
  /// The address of elements from `first` on: in the view, or, where that is
  /// not dense, in the buffer, which is filled with them.
  std::byte* read(std::int64_t first, std::int64_t count) noexcept {
    if (is_dense_) {
      return view_.data + first * size_;
    }
    gather({view_.shape, view_.strides, size_, view_.data}, first, count,
           buffer_.data());
    return buffer_.data();
  }
  /// An address to put elements at, to be followed by commit().
  std::byte* place(std::int64_t first) noexcept {
    return is_dense_ ? view_.data + first * size_ : buffer_.data();
  }
  void commit(std::int64_t first, std::int64_t count) noexcept {
    if (!is_dense_) {
      scatter({view_.shape, view_.strides, size_, view_.data}, first, count,
              buffer_.data());
    }
  }

 private:
  Strided view_;
  int size_;  // bytes of an element
  bool is_dense_;
  alignas(64) std::array<std::byte, kChunk * 8> buffer_;
};

void run_range(const Args& args, BitsUse use, BitsFunction function,
               std::int64_t begin, std::int64_t end) noexcept {
  const bool writes = use == BitsUse::kWrites;
  Operand in(args.in[0]);
  Operand out(args.out[0]);
  Operand bits(writes ? args.out[1] : args.in[1]);
  const bool is_dense = in.is_dense() && out.is_dense() && bits.is_dense();
  const std::int64_t step = is_dense ? end - begin : kChunk;
  for (std::int64_t first = begin; first < end; first += step) {
    BitsPiece piece;
    piece.attrs = args.attrs;
    piece.count = std::min(step, end - first);
    const std::int64_t bytes = bit_bytes(piece.count);
    piece.in = in.read(first, piece.count);
    piece.out = out.place(first);
    piece.bits = reinterpret_cast<std::uint8_t*>(
        writes ? bits.place(first / 8) : bits.read(first / 8, bytes));
    function(piece);
    out.commit(first, piece.count);
    if (writes) {
      bits.commit(first / 8, bytes);
    }
  }
}

}  // namespace

void run_with_bits(const Args& args, BitsUse use,
                   BitsFunction function) noexcept {
  static_assert(kGrain % 8 == 0 && kChunk % 8 == 0);
  threads::parallel_for(*args.executor, args.out[0].shape.element_count(),
                        kGrain,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          run_range(args, use, function, begin, end);
                        });
}

}  // namespace neap::kernels
