// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv/conv2d_relu.hpp"

#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/engine/bits.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::Lay;
using testing::noise;

template <class T>
Array filled(const Shape& shape, std::int64_t seed) {
  return Array::of<T>(shape, Lay::kDense, [seed](std::int64_t i) {
    return static_cast<T>(noise(i + 1000 * seed));
  });
}

template <class T>
const Kernel& first_of(const KernelList& list) {
  return *std::ranges::find(list.kernels, dtype_of<T>, &Kernel::dtype);
}

// With bits, and without.
template <class T>
void expect_same_bits(const Shape& x_shape, int threads) {
  constexpr std::int64_t kOut = 9;
  const Shape y_shape{x_shape[0], kOut, x_shape[2], x_shape[3]};
  const ConvAttrs attrs{.padding = {1, 1},
                        .x_extent = {x_shape[2], x_shape[3]},
                        .kernel = {3, 3},
                        .y_extent = {x_shape[2], x_shape[3]}};
  Array x = filled<T>(x_shape, 1);
  Array w = filled<T>({kOut, x_shape[1], 3, 3}, 2);
  Array bias = filled<T>({kOut}, 3);
  const std::vector<Strided> in{x.view(), w.view(), bias.view()};
  const Shape bits_shape{bit_bytes(y_shape.element_count())};
  Array want(y_shape, dtype_of<T>);
  Array want_bits(bits_shape, u8);
  call(testing::reference_of(conv2d_relu_bits_kernels, dtype_of<T>), in,
       {want.view(), want_bits.view()}, &attrs);
  Array got(y_shape, dtype_of<T>);
  Array got_bits(bits_shape, u8);
  call(first_of<T>(conv2d_relu_bits_kernels), in, {got.view(), got_bits.view()},
       &attrs, threads);
  EXPECT_EQ(got.elements(), want.elements()) << format_shape(x_shape);
  EXPECT_EQ(got_bits.elements(), want_bits.elements()) << format_shape(x_shape);
  Array alone(y_shape, dtype_of<T>);
  call(first_of<T>(conv2d_relu_kernels), in, {alone.view()}, &attrs, threads);
  EXPECT_EQ(alone.elements(), want.elements()) << format_shape(x_shape);
}

TEST(Conv2dReluTest, HasTheBitsOfOneAfterTheOther) {
  // Several chunks, the last one smaller; bytes of bits that two samples share,
  // in one chunk and in several; none.
  const Shape shapes[] = {
      {37, 2, 40, 40}, {5, 2, 3, 3}, {13, 1, 111, 113}, {0, 2, 4, 4}};
  for (const Shape& shape : shapes) {
    for (const int threads : {1, 2, 3}) {
      expect_same_bits<float>(shape, threads);
    }
    expect_same_bits<double>(shape, 1);
  }
}

}  // namespace
}  // namespace neap::kernels
