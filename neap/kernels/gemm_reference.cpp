// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "neap/kernels/gemm.hpp"

namespace neap::kernels {
namespace {

template <class T>
T start_of(const Gemm<T>& product, const T& c, std::int64_t column) noexcept {
  switch (product.start) {
    case GemmStart::kZero:
      return T{0};
    case GemmStart::kBias:
      return product.bias[column * product.bias_stride];
    case GemmStart::kC:
      return c;
  }
  return T{0};
}

template <class T>
T end_of(const Gemm<T>& product, T sum) noexcept {
  return product.end == GemmEnd::kRelu && sum <= T{0} ? T{0} : sum;
}

}  // namespace

std::int64_t gemm_batch_count(const Shape& batch) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : batch) {
    count *= extent;
  }
  return count;
}

GemmOffsets gemm_offsets(const Shape& batch, const Shape& a_strides,
                         const Shape& b_strides, std::int64_t index) noexcept {
  GemmOffsets offsets;
  for (int axis = batch.rank() - 1; axis >= 0; --axis) {
    const std::int64_t position = index % batch[axis];
    index /= batch[axis];
    offsets.a += position * a_strides[axis];
    offsets.b += position * b_strides[axis];
  }
  return offsets;
}

template <class T>
void gemm_reference(const Gemm<T>& x) noexcept {
  const bool fuses = gemm_fuses();
  const std::int64_t products = gemm_batch_count(x.batch);
  for (std::int64_t p = 0; p < products; ++p) {
    const GemmOffsets offsets =
        gemm_offsets(x.batch, x.a_strides, x.b_strides, p);
    for (std::int64_t i = 0; i < x.m; ++i) {
      for (std::int64_t j = 0; j < x.n; ++j) {
        const T* a = x.a.data + offsets.a + i * x.a.row_stride;
        const T* b = x.b.data + offsets.b + j * x.b.column_stride;
        T& c = x.c[(p * x.m + i) * x.n + j];
        T sum = start_of(x, c, j);
        for (std::int64_t k = 0; k < x.k; ++k) {
          const T a_ik = a[k * x.a.column_stride];
          const T b_kj = b[k * x.b.row_stride];
          sum = fuses ? std::fma(a_ik, b_kj, sum) : a_ik * b_kj + sum;
        }
        c = end_of(x, sum);
      }
    }
  }
}

template void gemm_reference(const Gemm<float>&) noexcept;
template void gemm_reference(const Gemm<double>&) noexcept;

}  // namespace neap::kernels
