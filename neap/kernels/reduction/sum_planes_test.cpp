// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/sum_planes.hpp"

#include <algorithm>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/reduction/sum.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;

template <class T>
Array noise_array(const Shape& shape, Lay lay = Lay::kDense) {
  return Array::of<T>(shape, lay,
                      [](std::int64_t i) { return static_cast<T>(noise(i)); });
}

Strided rows_of(Strided x, std::int64_t first, std::int64_t count) {
  x.data += first * x.strides[0] * size_of(x.dtype);
  x.shape[0] = count;
  return x;
}

// The sum of x in pieces of at most `each` rows, on so many threads.
template <class T>
Array summed(Array& x, std::int64_t each, int threads) {
  const std::int64_t rows = x.shape()[0];
  const std::int64_t channels = x.shape()[1];
  Array state = Array::of<double>({channels, kPlaneSumState}, Lay::kDense,
                                  [](std::int64_t) { return 0.0; });
  for (std::int64_t first = 0; first < rows; first += each) {
    const SumRowsAttrs attrs{.first = first};
    call(first_of(sum_planes_kernels, dtype_of<T>),
         {rows_of(x.view(), first, std::min(each, rows - first))},
         {state.view()}, &attrs, threads);
  }
  Array y({1, channels, 1}, dtype_of<T>);
  call(first_of(sum_planes_end_kernels, f64), {state.view()}, {y.view()});
  return y;
}

template <class T>
void expect_the_bits_of_the_sum(const Shape& shape) {
  for (const Lay lay : kLays) {
    Array x = noise_array<T>(shape, lay);
    Array want({1, shape[1], 1}, dtype_of<T>);
    const ReduceAttrs attrs{0b101};
    call(first_of(sum_kernels, dtype_of<T>), {x.view()}, {want.view()}, &attrs);
    for (const std::int64_t each : {1, 2, 3, 7, 300}) {
      for (const int threads : {1, 2, 3}) {
        EXPECT_EQ(summed<T>(x, each, threads).elements(), want.elements())
            << format_shape(shape) << " by " << each;
      }
    }
  }
}

TEST(SumPlanesTest, PiecesHaveTheBitsOfTheSum) {
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{5, 3, 7}, Shape{3, 2, 784}, Shape{4, 3, 1024},
        Shape{9, 5, 100}, Shape{2, 2, 3001}, Shape{2100, 1, 1}}) {
    expect_the_bits_of_the_sum<float>(shape);
    expect_the_bits_of_the_sum<double>(shape);
  }
}

// Negative zeros alone sum to zero, in pieces as at once.
TEST(SumPlanesTest, KeepsTheSignOfZero) {
  Array x = Array::of<float>({3, 2, 5}, Lay::kDense,
                             [](std::int64_t) { return -0.0F; });
  Array want({1, 2, 1}, f32);
  const ReduceAttrs attrs{0b101};
  call(first_of(sum_kernels, f32), {x.view()}, {want.view()}, &attrs);
  EXPECT_EQ(summed<float>(x, 2, 1).elements(), want.elements());
}

}  // namespace
}  // namespace neap::kernels
