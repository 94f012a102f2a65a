// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolution over two spatial axes, and its two derivatives. All three are
// one trilinear form of x (n, c, h, w), w (o, c / groups, kh, kw) and
// y (n, o, oh, ow), the sum of
//
//   y[n, o, i, j] w[o, k, p, q] x[n, g c / groups + k, i s + p d - pad,
//                                 j s + q d - pad]
//
// where g is o's group, s the stride, d the dilation, each one an axis, and x
// is 0 outside of its extents. Each kernel computes the derivative by one of
// the three:
//
//   conv2d            by y: the sum over k, p, q
//   conv_transpose2d  by x: the sum over the o of x's group, then p, q
//   conv2d_weight     by w: the sum over n, i, j
//
// Every element is one accumulator. It begins with 0 or the bias, takes its
// products in that order, the last index fastest, each by one multiply-add, and
// is rounded nowhere else. Products with elements outside of x or y take no
// part, so an infinite weight does no harm at a border. So bits depend on
// neither blocks, threads, layout nor the batch.
//
// conv2d_weight_add begins with what it is given, so that a sum over samples
// may go on: some samples after the others give the bits of all at once.
//
// With Precision::kBf16 (of f32 alone) factors are rounded to bf16 first, and
// an accumulator takes its products in pairs of what would be the first index
// of its sum: k, o or n, even and odd, of the same p, q or i, j. Pairs come in
// that order too, the last index fastest; bf16_dot.hpp says how one of them is
// added, and how denormals count. An odd last k, o or n is paired with zeros; a
// pair with a position outside takes no part as a whole. A sum without pairs
// (of one channel, of one sample) has nothing to gain and is f32's, and so are
// all three of convolutions of each channel by itself. A sum that goes on is
// that of all samples, so that one sample by itself is an odd last one there.
//
//   conv2d             in x, w, [bias (o)]  out y
//   conv_transpose2d   in y, w, [bias (c)]  out x
//   conv2d_weight      in x, y              out w
//   conv2d_weight_add  in dw, x, y          out w, which may be dw
//
// f32, f64. Inputs have any strides; the output is dense.
#pragma once

#include <array>
#include <cstdint>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/precision.hpp"

namespace neap::kernels {

/// Attributes of all three ops: the whole geometry of x, w and y.
struct ConvAttrs {
  std::array<std::int64_t, 2> stride{1, 1};    // positive
  std::array<std::int64_t, 2> padding{};       // zeros on both sides of x
  std::array<std::int64_t, 2> dilation{1, 1};  // positive
  std::array<std::int64_t, 2> x_extent{};      // h, w
  std::array<std::int64_t, 2> kernel{};        // kh, kw; positive
  std::array<std::int64_t, 2> y_extent{};      // oh, ow
  std::int64_t groups = 1;                     // divides c and o
  Precision precision = Precision::kF32;
  std::array<std::uint8_t, 7> rest{};  // attributes are compared as bytes
};

extern const KernelList conv2d_kernels;
extern const KernelList conv_transpose2d_kernels;
extern const KernelList conv2d_weight_kernels;
extern const KernelList conv2d_weight_add_kernels;

/// The one of the three operands that is computed.
enum class ConvMakes : std::uint8_t { kY, kX, kW };

/// A call, whichever of the three.
struct Conv {
  Strided x;          // (n, c, h, w)
  Strided w;          // (o, c / groups, kh, kw)
  Strided y;          // (n, o, oh, ow)
  Strided bias;       // (o) for kY, (c) for kX; no data: none
  ConvAttrs attrs;    // the precision is kF32 for f64 and sums without pairs
  bool adds = false;  // kW: to what w holds

  std::int64_t samples() const noexcept { return x.shape[0]; }
  /// Channels of one group.
  std::int64_t x_channels() const noexcept { return w.shape[1]; }
  std::int64_t y_channels() const noexcept { return w.shape[0] / attrs.groups; }
  bool has_bias() const noexcept { return bias.shape.rank() != 0; }
  bool is_bf16() const noexcept { return attrs.precision == Precision::kBf16; }
};

Conv conv_of(const Args& args, ConvMakes makes) noexcept;

/// Whether a call is a matrix product, as it is where the kernel has one
/// element and there is neither stride nor padding; and that product. In bf16,
/// by w it is none: pairs are of samples, not of pixels.
bool conv_is_product(const Conv& conv, ConvMakes makes) noexcept;
template <class T>
void conv_product(const Conv& conv, ConvMakes makes,
                  std::span<std::byte> scratch,
                  threads::Executor& executor) noexcept;
template <class T>
Bytes conv_product_scratch(const Conv& conv, ConvMakes makes,
                           int threads) noexcept;

/// By plain loops. T is float or double.
template <class T>
void conv_reference(const Conv& conv, ConvMakes makes) noexcept;

}  // namespace neap::kernels
