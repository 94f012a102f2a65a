// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/gemm/gemv.hpp"

#include <cstring>
#include <limits>

#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels {
namespace {

using testing::BackwardExecutor;
using testing::noise;

constexpr std::int64_t kGuard = 16;  // elements

// A matrix times a vector: one row of C, or one column of it.
template <class T>
struct Case {
  Gemm<T> product;
  std::vector<T> matrix, x, bias, c;

  // `count` elements of C; the matrix is dense along k, or along C.
  Case(std::int64_t count, std::int64_t k, bool is_row, bool along_k) {
    const std::int64_t gap = 3;  // between its rows
    const std::int64_t x_stride = count % 2 == 0 ? 1 : 2;
    matrix = elements((along_k ? count : k) * ((along_k ? k : count) + gap), 1);
    x = elements(k * x_stride, 2);
    bias = elements(count, 3);
    c = elements(count + 2 * kGuard, 4);
    const std::int64_t c_step = along_k ? k + gap : 1;
    const std::int64_t k_step = along_k ? 1 : count + gap;
    product.m = is_row ? 1 : count;
    product.n = is_row ? count : 1;
    product.k = k;
    if (is_row) {
      product.a = {x.data(), 0, x_stride};
      product.b = {matrix.data(), k_step, c_step};
    } else {
      product.a = {matrix.data(), c_step, k_step};
      product.b = {x.data(), x_stride, 0};
    }
    product.bias = bias.data();
    product.bias_stride = 1;
    product.c = c.data() + kGuard;
  }

  static std::vector<T> elements(std::int64_t count, std::int64_t salt) {
    std::vector<T> v(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = static_cast<T>(noise(5 * static_cast<std::int64_t>(i) + salt));
    }
    return v;
  }
};

template <class T>
void expect_bits(Case<T>& x, int threads) {
  const std::vector<T> before = x.c;
  gemm_reference(x.product);
  const std::vector<T> want = x.c;
  x.c = before;
  x.product.c = x.c.data() + kGuard;
  BackwardExecutor executor(threads);
  gemv(x.product, executor);
  ASSERT_EQ(std::memcmp(x.c.data(), want.data(), want.size() * sizeof(T)), 0)
      << x.product.m << " x " << x.product.n << ", k " << x.product.k
      << ", b along k " << (x.product.b.row_stride == 1) << ", threads "
      << threads;
  x.c = before;
  x.product.c = x.c.data() + kGuard;
}

template <class T>
void expect_bits_of_the_reference(std::int64_t count, std::int64_t k) {
  int threads = 0;
  for (const bool is_row : {true, false}) {
    for (const bool along_k : {true, false}) {
      Case<T> x(count, k, is_row, along_k);
      if (!is_gemv(x.product)) {
        return;  // an instruction set without it
      }
      for (const GemmStart start :
           {GemmStart::kZero, GemmStart::kBias, GemmStart::kC}) {
        for (const GemmEnd end : {GemmEnd::kPlain, GemmEnd::kRelu}) {
          x.product.start = start;
          x.product.end = end;
          threads = threads % 3 + 1;
          expect_bits(x, threads);
        }
      }
    }
  }
}

TEST(GemvTest, HasTheBitsOfTheReference) {
  for (std::int64_t count = 8; count <= 70; count += 1 + count / 20) {
    for (const std::int64_t k : {1, 2, 7, 8, 15, 16, 17, 33, 100}) {
      expect_bits_of_the_reference<float>(count, k);
      expect_bits_of_the_reference<double>(count, k);
    }
  }
  expect_bits_of_the_reference<float>(5000, 37);
  expect_bits_of_the_reference<float>(301, 1024);
  expect_bits_of_the_reference<double>(301, 1024);
}

// Several rows of C, with a gap between those of A.
template <class T>
void expect_bits_of_few(std::int64_t rows, std::int64_t count, std::int64_t k) {
  Case<T> x(count, k, true, true);
  const std::int64_t x_stride = x.product.a.column_stride;
  const std::int64_t x_step = k * x_stride + 5;
  x.x = Case<T>::elements(rows * x_step, 2);
  x.c = Case<T>::elements(rows * count + 2 * kGuard, 4);
  x.product.m = rows;
  x.product.a = {x.x.data(), x_step, x_stride};
  x.product.c = x.c.data() + kGuard;
  if (!is_gemv(x.product)) {
    return;  // an instruction set without it
  }
  EXPECT_EQ(gemm_scratch_bytes(x.product, 2), 0);
  int threads = 0;
  for (const GemmStart start :
       {GemmStart::kZero, GemmStart::kBias, GemmStart::kC}) {
    for (const GemmEnd end : {GemmEnd::kPlain, GemmEnd::kRelu}) {
      x.product.start = start;
      x.product.end = end;
      threads = threads % 3 + 1;
      expect_bits(x, threads);
    }
  }
}

TEST(GemvTest, FewRowsHaveTheBitsOfTheReference) {
  for (std::int64_t rows = 2; rows <= 8; ++rows) {
    expect_bits_of_few<float>(rows, 513, 519);
    expect_bits_of_few<double>(rows, 300, 441);
  }
  expect_bits_of_few<float>(3, 9, 32'000);
  expect_bits_of_few<float>(5, 90'000, 3);
}

TEST(GemvTest, FewRowsOfASmallMatrixAndManyRowsAreNotItsOwn) {
  Case<float> x(64, 64, true, true);
  x.product.m = 2;
  EXPECT_FALSE(is_gemv(x.product));
  Case<float> large(1024, 1024, true, true);
  large.product.m = 9;
  EXPECT_FALSE(is_gemv(large.product));
}

TEST(GemvTest, NanAndInfinityReachTheirElementsAlone) {
  Case<float> x(40, 50, false, true);
  if (!is_gemv(x.product)) {
    GTEST_SKIP() << "an instruction set without it";
  }
  x.matrix[3 * 53 + 49] = std::numeric_limits<float>::quiet_NaN();
  x.matrix[39 * 53] = std::numeric_limits<float>::infinity();
  for (const GemmEnd end : {GemmEnd::kPlain, GemmEnd::kRelu}) {
    x.product.end = end;
    gemv(x.product, threads::serial_executor());
    for (std::int64_t i = 0; i < 40; ++i) {
      EXPECT_EQ(x.product.c[i] != x.product.c[i], i == 3) << i;
    }
  }
}

TEST(GemvTest, NeedsNoScratch) {
  const Case<float> x(64, 64, true, true);
  if (is_gemv(x.product)) {
    EXPECT_EQ(gemm_scratch_bytes(x.product, 2), 0);
  }
}

}  // namespace
}  // namespace neap::kernels
