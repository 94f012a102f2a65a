// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/gemm/matmul.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "neap/kernels/linalg/linear.hpp"
#include "neap/threads/executor.hpp"

namespace neap::kernels {
namespace {

// 1, 2, 3, ... in row-major order.
struct Array {
  std::vector<double> elements;
  Strided view;

  explicit Array(const Shape& shape)
      : elements(static_cast<std::size_t>(shape.element_count())) {
    std::iota(elements.begin(), elements.end(), 1.0);
    view = {reinterpret_cast<std::byte*>(elements.data()), f64, shape,
            base::row_major_strides(shape)};
  }
};

// Element (position..., row, column), where the leading axes broadcast.
double at(const Strided& x, const Shape& position, std::int64_t row,
          std::int64_t column) {
  const int axes = x.shape.rank() - 2;
  std::int64_t offset = row * x.strides.back(2) + column * x.strides.back(1);
  for (int axis = 0; axis < axes; ++axis) {
    const int own = position.rank() - axes + axis;
    offset += x.shape[axis] == 1 ? 0 : position[own] * x.strides[axis];
  }
  return x.as<const double>()[offset];
}

double product_at(const Strided& a, const Strided& b, const Shape& position,
                  std::int64_t row, std::int64_t column) {
  double sum = 0.0;
  for (std::int64_t k = 0; k < a.shape.back(1); ++k) {
    sum += at(a, position, row, k) * at(b, position, k, column);
  }
  return sum;
}

void run(const Kernel& kernel, std::span<const Strided> in,
         const Strided& out) {
  Args args;
  args.in = in;
  args.out = {&out, 1};
  args.executor = &threads::serial_executor();
  std::vector<std::byte> scratch(
      static_cast<std::size_t>(scratch_bytes(kernel, args)));
  args.scratch = scratch;
  kernel.run(args);
}

// Every f64 kernel of the list against sums by index; integers are exact.
void expect_products(const Strided& a, const Strided& b, const Shape& batch,
                     const Shape& c_shape) {
  for (const Kernel& kernel : matmul_kernels.kernels) {
    if (kernel.dtype != f64) {
      continue;
    }
    Array c(c_shape);
    run(kernel, std::array{a, b}, c.view);
    const std::int64_t m = c_shape.back(2);
    const std::int64_t n = c_shape.back(1);
    for (std::int64_t i = 0; i < c_shape.element_count(); ++i) {
      Shape position = batch;
      std::int64_t rest = i / (m * n);
      for (int axis = batch.rank() - 1; axis >= 0; --axis) {
        position[axis] = rest % batch[axis];
        rest /= batch[axis];
      }
      ASSERT_EQ(c.elements[static_cast<std::size_t>(i)],
                product_at(a, b, position, i / n % m, i % n))
          << kernel.name << ", element " << i;
    }
  }
}

TEST(MatmulTest, MultipliesMatrices) {
  const Array a({3, 4});
  const Array b({4, 5});
  expect_products(a.view, b.view, {}, {3, 5});
}

TEST(MatmulTest, MultipliesEachProductOfABatch) {
  const Array a({2, 3, 4, 5});
  const Array b({2, 3, 5, 6});
  expect_products(a.view, b.view, {2, 3}, {2, 3, 4, 6});
}

TEST(MatmulTest, BroadcastsLeadingAxesOfEitherOperand) {
  const Array a({2, 1, 3, 4});
  const Array b({5, 4, 2});
  expect_products(a.view, b.view, {2, 5}, {2, 5, 3, 2});
}

TEST(MatmulTest, TakesOneMatrixForAWholeBatchOnEitherSide) {
  const Array batch({2, 3, 4, 4});
  const Array matrix({4, 4});
  expect_products(batch.view, matrix.view, {2, 3}, {2, 3, 4, 4});
  expect_products(matrix.view, batch.view, {2, 3}, {2, 3, 4, 4});
}

TEST(MatmulTest, TakesBatchesOfUnevenRows) {
  const Array a({3, 2, 4});
  const Array b({4, 5});
  Strided swapped = a.view;  // (2, 3, 4): rows lie 8 apart, products 4
  swapped.shape = {2, 3, 4};
  swapped.strides = {4, 8, 1};
  expect_products(swapped, b.view, {2}, {2, 3, 5});
}

TEST(MatmulTest, TakesBatchesOfSingleRows) {
  const Array a({3, 1, 4});
  const Array b({4, 5});
  expect_products(a.view, b.view, {3}, {3, 1, 5});
}

TEST(MatmulTest, WritesZerosWhereThereIsNothingToSum) {
  const Array a({2, 3, 0});
  const Array b({0, 4});
  expect_products(a.view, b.view, {2}, {2, 3, 4});
}

TEST(MatmulTest, LeavesEmptyBatchesAlone) {
  const Array a({0, 3, 2});
  const Array b({2, 4});
  expect_products(a.view, b.view, {0}, {0, 3, 4});
}

TEST(LinearTest, AddsTheProductToTheBias) {
  const Array x({2, 3});
  const Array w({4, 3});
  const Array bias({4});
  for (const Kernel& kernel : linear_kernels.kernels) {
    if (kernel.dtype != f64) {
      continue;
    }
    Array y({2, 4});
    run(kernel, std::array{x.view, w.view, bias.view}, y.view);
    EXPECT_EQ(y.elements,
              (std::vector<double>{15, 34, 53, 72, 33, 79, 125, 171}))
        << kernel.name;
  }
}

TEST(LinearTest, BeginsWithZeroWithoutABias) {
  const Array x({2, 3});
  const Array w({1, 3});
  for (const Kernel& kernel : linear_kernels.kernels) {
    if (kernel.dtype != f64) {
      continue;
    }
    Array y({2, 1});
    run(kernel, std::array{x.view, w.view}, y.view);
    EXPECT_EQ(y.elements, (std::vector<double>{14, 32})) << kernel.name;
  }
}

TEST(LinearTest, NeedsLittleScratchForTheProductsOfASmallNetwork) {
  class TwoThreads final : public threads::Executor {
   public:
    int threads() const noexcept override { return 2; }
    void run(int, threads::PartFunction, void*) noexcept override {}
  };
  TwoThreads executor;
  const Strided x{nullptr, f32, {128, 784}, {784, 1}};
  const Strided w{nullptr, f32, {512, 784}, {784, 1}};
  const Strided y{nullptr, f32, {128, 512}, {512, 1}};
  const std::array in{x, w};
  Args args;
  args.in = in;
  args.out = {&y, 1};
  args.executor = &executor;
  EXPECT_LE(scratch_bytes(linear_kernels.kernels[0], args), 600 * kKiB);
}

}  // namespace
}  // namespace neap::kernels
