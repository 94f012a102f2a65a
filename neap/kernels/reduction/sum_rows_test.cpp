// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/sum_rows.hpp"

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

// Rows [first, first + count) of a matrix.
Strided rows_of(Strided x, std::int64_t first, std::int64_t count) {
  x.data += first * x.strides[0] * size_of(x.dtype);
  x.shape[0] = count;
  return x;
}

// The sum of x in pieces of at most `each` rows, on so many threads.
template <class T>
Array summed(Array& x, std::int64_t each, int threads) {
  const std::int64_t rows = x.shape()[0];
  const std::int64_t columns = x.shape()[1];
  Array state = Array::of<double>({2, columns}, Lay::kDense,
                                  [](std::int64_t) { return 0.0; });
  for (std::int64_t first = 0; first < rows; first += each) {
    const SumRowsAttrs attrs{.first = first};
    call(first_of(sum_rows_kernels, dtype_of<T>),
         {rows_of(x.view(), first, std::min(each, rows - first))},
         {state.view()}, &attrs, threads);
  }
  Array y({1, columns}, dtype_of<T>);
  call(first_of(sum_rows_end_kernels, f64), {state.view()}, {y.view()});
  return y;
}

template <class T>
void expect_the_bits_of_the_sum(const Shape& shape) {
  for (const Lay lay : kLays) {
    Array x = noise_array<T>(shape, lay);
    Array want({1, shape[1]}, dtype_of<T>);
    const ReduceAttrs attrs{1};
    call(first_of(sum_kernels, dtype_of<T>), {x.view()}, {want.view()}, &attrs);
    for (const std::int64_t each : {1, 2, 7, 300, 1024, 5000}) {
      for (const int threads : {1, 2}) {
        EXPECT_EQ(summed<T>(x, each, threads).elements(), want.elements())
            << format_shape(shape) << " by " << each;
      }
    }
  }
}

TEST(SumRowsTest, PiecesHaveTheBitsOfTheSum) {
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 3}, Shape{1024, 2},
                             Shape{1025, 70}, Shape{3000, 5}}) {
    expect_the_bits_of_the_sum<float>(shape);
    expect_the_bits_of_the_sum<double>(shape);
  }
}

TEST(SumRowsTest, OfMoreColumnsThanGoTogether) {
  expect_the_bits_of_the_sum<float>({40, 2500});
}

}  // namespace
}  // namespace neap::kernels
