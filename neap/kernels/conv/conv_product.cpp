// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolutions by a kernel of one element, without stride or padding: they are
// matrix products as they stand, of w with the planes of x or y.
#include <algorithm>

#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/gemm/gemm.hpp"

namespace neap::kernels {
namespace {

// Below, tiles that go across samples serve better.
constexpr std::int64_t kLeastPlane = 64;

std::int64_t plane_of(const Strided& image) noexcept {
  return image.shape[2] * image.shape[3];
}

/// Whether the elements of a plane follow each other evenly.
bool is_even(const Strided& image) noexcept {
  return image.shape[2] == 1 ||
         image.strides[2] == image.strides[3] * image.shape[3];
}

/// Channels x places of each sample and group.
template <class T>
GemmOperand<T> planes_of(const Strided& image) noexcept {
  return {image.as<const T>(), image.strides[1], image.strides[3]};
}

/// dw: the products of the samples, one after the other, each added to what is
/// there. `sample` of them all for the scratch.
template <class T>
Gemm<T> weight_product(const Conv& conv, std::int64_t sample) noexcept {
  const Strided& x = conv.x;
  const Strided& y = conv.y;
  Gemm<T> product;
  product.m = conv.y_channels();
  product.n = conv.x_channels();
  product.k = plane_of(y);
  product.a = planes_of<T>(y);
  product.b = {x.as<const T>(), x.strides[3], x.strides[1]};
  product.a.data += sample * y.strides[0];
  product.b.data += sample * x.strides[0];
  product.start = sample > 0 || conv.adds ? GemmStart::kC : GemmStart::kZero;
  product.c = conv.w.as<T>();
  product.batch = {conv.attrs.groups};
  product.a_strides = {product.m * y.strides[1]};
  product.b_strides = {product.n * x.strides[1]};
  return product;
}

/// y = w x, or x = w^T y.
template <class T>
Gemm<T> image_product(const Conv& conv, ConvMakes makes) noexcept {
  const bool is_y = makes == ConvMakes::kY;
  const Strided& from = is_y ? conv.x : conv.y;
  const Strided& to = is_y ? conv.y : conv.x;
  const Shape& w = conv.w.strides;
  Gemm<T> product;
  product.m = is_y ? conv.y_channels() : conv.x_channels();
  product.n = plane_of(to);
  product.k = is_y ? conv.x_channels() : conv.y_channels();
  product.a = {conv.w.as<const T>(), is_y ? w[0] : w[1], is_y ? w[1] : w[0]};
  product.b = planes_of<T>(from);
  product.c = to.as<T>();
  product.start = conv.has_bias() ? GemmStart::kC : GemmStart::kZero;
  product.precision = conv.attrs.precision;
  product.batch = {conv.samples(), conv.attrs.groups};
  product.a_strides = {0, conv.y_channels() * w[0]};
  product.b_strides = {from.strides[0], product.k * from.strides[1]};
  return product;
}

/// Fills the result with the bias, which the sums begin with.
template <class T>
void put_bias(const Strided& bias, const Strided& to,
              threads::Executor& executor) noexcept {
  const std::int64_t plane = plane_of(to);
  const std::int64_t channels = to.shape[1];
  threads::parallel_for(executor, to.shape[0] * channels, 1 + 16384 / plane,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          for (std::int64_t i = begin; i < end; ++i) {
                            std::fill_n(
                                to.as<T>() + i * plane, plane,
                                bias.as<T>()[i % channels * bias.strides[0]]);
                          }
                        });
}

}  // namespace

bool conv_is_product(const Conv& conv, ConvMakes makes) noexcept {
  const ConvAttrs& a = conv.attrs;
  constexpr std::array<std::int64_t, 2> kOnes{1, 1};
  const bool is_plain =
      a.kernel == kOnes && a.stride == kOnes && a.x_extent == a.y_extent;
  return is_plain && !(makes == ConvMakes::kW && conv.is_bf16()) &&
         plane_of(conv.x) >= kLeastPlane && conv.samples() > 0 &&
         (makes == ConvMakes::kX || is_even(conv.x)) &&
         (makes == ConvMakes::kY || is_even(conv.y));
}

template <class T>
void conv_product(const Conv& conv, ConvMakes makes,
                  std::span<std::byte> scratch,
                  threads::Executor& executor) noexcept {
  if (makes == ConvMakes::kW) {
    for (std::int64_t sample = 0; sample < conv.samples(); ++sample) {
      gemm(weight_product<T>(conv, sample), scratch, executor);
    }
    return;
  }
  if (conv.has_bias()) {
    put_bias<T>(conv.bias, makes == ConvMakes::kY ? conv.y : conv.x, executor);
  }
  gemm(image_product<T>(conv, makes), scratch, executor);
}

template <class T>
Bytes conv_product_scratch(const Conv& conv, ConvMakes makes,
                           int threads) noexcept {
  return makes == ConvMakes::kW
             ? gemm_scratch_bytes(weight_product<T>(conv, 0), threads)
             : gemm_scratch_bytes(image_product<T>(conv, makes), threads);
}

template void conv_product<float>(const Conv&, ConvMakes, std::span<std::byte>,
                                  threads::Executor&) noexcept;
template void conv_product<double>(const Conv&, ConvMakes, std::span<std::byte>,
                                   threads::Executor&) noexcept;
template Bytes conv_product_scratch<float>(const Conv&, ConvMakes,
                                           int) noexcept;
template Bytes conv_product_scratch<double>(const Conv&, ConvMakes,
                                            int) noexcept;

}  // namespace neap::kernels
