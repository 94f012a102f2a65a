// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <type_traits>

#include "neap/kernels/gemm/bf16_dot.hpp"
#include "neap/kernels/gemm/gemm.hpp"

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

/// The elements that one element of C is made of.
template <class T>
struct Line {
  const GemmOperand<T>& a;
  const GemmOperand<T>& b;
  std::int64_t a_first;
  std::int64_t b_first;
  std::int64_t count;

  T a_at(std::int64_t k) const noexcept {
    return k < count ? at(a, a_first + k * a.column_stride) : T{0};
  }
  T b_at(std::int64_t k) const noexcept {
    return k < count ? at(b, b_first + k * b.row_stride) : T{0};
  }

 private:
  static T at(const GemmOperand<T>& x, std::int64_t offset) noexcept {
    return x.is_half ? T(static_cast<float>(x.half[offset])) : x.data[offset];
  }
};

template <class T>
T plain_sum(const Line<T>& x, T sum) noexcept {
  const bool fuses = gemm_fuses();
  for (std::int64_t k = 0; k < x.count; ++k) {
    sum = fuses ? std::fma(x.a_at(k), x.b_at(k), sum)
                : x.a_at(k) * x.b_at(k) + sum;
  }
  return sum;
}

float bf16_sum(const Line<float>& x, float sum) noexcept {
  for (std::int64_t k = 0; k < x.count; k += 2) {
    sum = bf16_dot(x.a_at(k), x.b_at(k), x.a_at(k + 1), x.b_at(k + 1), sum);
  }
  return sum;
}

template <class T>
T sum_of(const Gemm<T>& product, const Line<T>& line, T start) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    if (product.precision == Precision::kBf16) {
      return bf16_sum(line, start);
    }
  }
  return plain_sum(line, start);
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
  const std::int64_t products = gemm_batch_count(x.batch);
  for (std::int64_t p = 0; p < products; ++p) {
    const GemmOffsets offsets =
        gemm_offsets(x.batch, x.a_strides, x.b_strides, p);
    for (std::int64_t i = 0; i < x.m; ++i) {
      for (std::int64_t j = 0; j < x.n; ++j) {
        const Line<T> line{.a = x.a,
                           .b = x.b,
                           .a_first = offsets.a + i * x.a.row_stride,
                           .b_first = offsets.b + j * x.b.column_stride,
                           .count = x.k};
        T& c = x.c[(p * x.m + i) * x.n + j];
        c = end_of(x, sum_of(x, line, start_of(x, c, j)));
      }
    }
  }
}

template void gemm_reference(const Gemm<float>&) noexcept;
template void gemm_reference(const Gemm<double>&) noexcept;

}  // namespace neap::kernels
