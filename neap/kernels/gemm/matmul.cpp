// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/gemm/matmul.hpp"

#include <array>

#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/precision.hpp"
#include "neap/kernels/gemm/gemm.hpp"

namespace neap::kernels {
namespace {

/// Strides of `operand` along the leading axes of an output of `rank` axes; 0
/// where it is broadcast.
Shape batch_strides(const Strided& operand, int rank) noexcept {
  Shape strides = Shape::filled(rank - 2, 0);
  const int missing = rank - operand.shape.rank();
  for (int axis = missing; axis < rank - 2; ++axis) {
    const int own = axis - missing;
    strides[axis] = operand.shape[own] == 1 ? 0 : operand.strides[own];
  }
  return strides;
}

/// Turns the batch into rows of one product where b is the same for all of it
/// and the rows of a follow each other evenly.
template <class T>
void fold_batch_into_rows(Gemm<T>& x) noexcept {
  while (x.batch.rank() > 0) {
    const int last = x.batch.rank() - 1;
    const bool a_is_even = x.m == 1 || x.batch[last] == 1 ||
                           x.a_strides[last] == x.m * x.a.row_stride;
    if (x.b_strides[last] != 0 || !a_is_even) {
      return;
    }
    if (x.m == 1) {
      x.a.row_stride = x.a_strides[last];
    }
    x.m *= x.batch[last];
    x.batch.erase(last);
    x.a_strides.erase(last);
    x.b_strides.erase(last);
  }
}

// The product of the last two operands.
template <class T>
Gemm<T> product_of(const Args& args) noexcept {
  const Strided& a = args.in[args.in.size() - 2];  // (..., M, K)
  const Strided& b = args.in[args.in.size() - 1];  // (..., K, N)
  const Strided& c = args.out[0];                  // (..., M, N)
  const int rank = c.shape.rank();
  Gemm<T> x;
  x.m = c.shape.back(2);
  x.n = c.shape.back(1);
  x.k = a.shape.back(1);
  x.a = {a.as<const T>(), a.strides.back(2), a.strides.back(1)};
  x.b = gemm_operand<T>(b, b.strides.back(2), b.strides.back(1));
  x.c = c.as<T>();
  x.precision = precision_of(args.attrs);
  x.start = args.in.size() > 2 ? GemmStart::kC : GemmStart::kZero;
  x.batch = Shape(c.shape.span().first(static_cast<std::size_t>(rank - 2)));
  x.a_strides = batch_strides(a, rank);
  x.b_strides = batch_strides(b, rank);
  fold_batch_into_rows(x);
  return x;
}

template <class T>
void matmul(const Args& args) noexcept {
  gemm(product_of<T>(args), args.scratch, *args.executor);
}

template <class T>
Bytes matmul_scratch(const Args& args) noexcept {
  return gemm_scratch_bytes(product_of<T>(args), args.executor->threads());
}

template <class T>
void matmul_reference(const Args& args) noexcept {
  gemm_reference(product_of<T>(args));
}

void bring_in(const Args& args) noexcept {
  if (args.in[0].data != args.out[0].data) {
    copy_elements(args.in[0], args.out[0], *args.executor);
  }
}

template <class T>
void matmul_add(const Args& args) noexcept {
  bring_in(args);
  matmul<T>(args);
}

template <class T>
void matmul_add_reference(const Args& args) noexcept {
  bring_in(args);
  matmul_reference<T>(args);
}

constexpr std::array kKernels = float_rows<"matmul">(
    {.run = matmul<float>, .scratch = matmul_scratch<float>},
    {.run = matmul<double>, .scratch = matmul_scratch<double>},
    {matmul_reference<float>}, {matmul_reference<double>});

constexpr std::array kAdds = float_rows<"matmul_add">(
    {.run = matmul_add<float>, .scratch = matmul_scratch<float>},
    {.run = matmul_add<double>, .scratch = matmul_scratch<double>},
    {matmul_add_reference<float>}, {matmul_add_reference<double>});

}  // namespace

constinit const KernelList matmul_kernels{"matmul", kKernels};
constinit const KernelList matmul_add_kernels{"matmul_add", kAdds};

}  // namespace neap::kernels
