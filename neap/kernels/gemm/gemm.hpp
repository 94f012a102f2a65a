// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The matrix product that every other product is made of (matmul, linear):
//
//   C (m, n) = start + A (m, k) B (k, n)
//
// Every element of C is one accumulator. It begins with what `start` names,
// takes the products of k = 0, 1, ... in that order, each by one multiply-add,
// and is rounded nowhere else. `end` may then clamp it as it is stored. So its
// bits depend on the elements and the instruction set's multiply-add alone: not
// on strides, blocks, the thread count or the batch. Nothing here owns memory;
// the caller lends the scratch.
//
// With Precision::kBf16 (of float alone) the elements of A and B are rounded to
// bf16 first, and an accumulator takes the products in pairs, k = (0, 1),
// (2, 3), ...: of each pair the odd product, then the even one, each by one
// multiply-add of f32; beside an odd last k stand zeros. Denormals count as
// zeros (bf16_dot.hpp says where); a start that meets no product stays as it
// is. So here too the bits depend on the elements alone.
//
// One of the operands of a product of float may lie in memory as bf16. It is
// widened, which is exact, as panels are packed or in registers, so the bits
// are those of the same product with a copy of it in float.
#pragma once

#include <cstdint>
#include <span>

#include "neap/base/bytes.hpp"
#include "neap/base/dtype.hpp"
#include "neap/base/shape.hpp"
#include "neap/kernels/engine/precision.hpp"
#include "neap/tensor/strided.hpp"
#include "neap/threads/executor.hpp"

namespace neap::kernels {

/// A matrix that is read, of any strides (in elements; 0 repeats).
template <class T>
struct GemmOperand {
  const T* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  // Its elements are bf16, at `half` instead of `data`. Of float and kF32
  // alone, and of at most one operand of a product.
  bool is_half = false;
  const BFloat16* half = nullptr;
};

/// The operand of a view's elements, f32 or bf16, or of double.
template <class T>
GemmOperand<T> gemm_operand(const tensor::Strided& view,
                            std::int64_t row_stride,
                            std::int64_t column_stride) noexcept {
  if (view.dtype == DType::kBF16) {
    return {nullptr, row_stride, column_stride, true,
            view.as<const BFloat16>()};
  }
  return {view.as<const T>(), row_stride, column_stride};
}

/// The values that the accumulators begin with.
enum class GemmStart : std::uint8_t {
  kZero,
  kBias,  // element j of a row of n, the same for all rows
  kC,     // what C holds
};

/// The operation on a finished sum.
enum class GemmEnd : std::uint8_t {
  kPlain,
  kRelu,  // max(0, sum), NaN for NaN
};

/// A product, or a batch of products of one shape. C is dense: rows of n
/// elements, one after the other, one product after the other.
template <class T>
struct Gemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  GemmOperand<T> a;  // (m, k)
  GemmOperand<T> b;  // (k, n)
  T* c = nullptr;    // (m, n)
  GemmStart start = GemmStart::kZero;
  GemmEnd end = GemmEnd::kPlain;
  Precision precision = Precision::kF32;  // of float alone
  const T* bias = nullptr;                // (n)
  std::int64_t bias_stride = 0;
  Shape batch;      // extents of the leading axes
  Shape a_strides;  // of those axes, in elements; 0 repeats
  Shape b_strides;
};

/// Scratch that gemm() needs on an executor of so many threads: a function of
/// the extents, strides and threads alone (pointers may be null).
/// T is float or double, here and below.
template <class T>
Bytes gemm_scratch_bytes(const Gemm<T>& product, int threads) noexcept;

/// Computes C. REQUIRES: as many bytes of scratch as gemm_scratch_bytes() says
/// for executor.threads(); C overlaps nothing that is read. In kBf16 where
/// has_bf16_dot() is false, the reference computes it: slow, the same bits.
template <class T>
void gemm(const Gemm<T>& product, std::span<std::byte> scratch,
          threads::Executor& executor) noexcept;

/// The same product by three plain loops, with the same bits.
template <class T>
void gemm_reference(const Gemm<T>& product) noexcept;

/// How many products a batch of these extents has; 1 for none.
std::int64_t gemm_batch_count(const Shape& batch) noexcept;

/// The offsets of product number `index` of a batch, in elements.
struct GemmOffsets {
  std::int64_t a = 0;
  std::int64_t b = 0;
};
GemmOffsets gemm_offsets(const Shape& batch, const Shape& a_strides,
                         const Shape& b_strides, std::int64_t index) noexcept;

/// True when the multiply-add of the instruction set in use rounds once.
bool gemm_fuses() noexcept;

}  // namespace neap::kernels
