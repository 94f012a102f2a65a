// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <type_traits>

#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/gemm/bf16_dot.hpp"
#include "neap/kernels/gemm/gemm.hpp"

namespace neap::kernels {
namespace {

/// An element, and how far behind it the next one is that a sum takes.
template <class T>
struct Run {
  const T* at;
  std::int64_t step;
};

/// An element of four axes, of which the last two may be outside.
template <class T>
class Image {
 public:
  explicit Image(const Strided& view) noexcept : view_(view) {}

  T& at(std::int64_t a, std::int64_t b, std::int64_t i,
        std::int64_t j) const noexcept {
    const Shape& s = view_.strides;
    return view_.as<T>()[a * s[0] + b * s[1] + i * s[2] + j * s[3]];
  }
  Run<T> along(int axis, std::int64_t a, std::int64_t b, std::int64_t i,
               std::int64_t j) const noexcept {
    return {&at(a, b, i, j), view_.strides[axis]};
  }
  bool has(std::int64_t i, std::int64_t j) const noexcept {
    return i >= 0 && i < view_.shape[2] && j >= 0 && j < view_.shape[3];
  }
  std::int64_t extent(int axis) const noexcept { return view_.shape[axis]; }

 private:
  const Strided& view_;
};

template <class T>
class Loops {
 public:
  explicit Loops(const Conv& conv) noexcept
      : conv_(conv), x_(conv.x), w_(conv.w), y_(conv.y) {}

  void make_y() const noexcept {
    for_all(y_, [this](auto n, auto o, auto i, auto j) {
      const std::int64_t first = o / conv_.y_channels() * conv_.x_channels();
      T sum = start(o);
      in_order(0, w_.extent(1), w_.extent(2), w_.extent(3),
               [&](auto k, auto p, auto q) {
                 if (x_.has(row(i, p), column(j, q))) {
                   add(sum, k + 1 < w_.extent(1), w_.along(1, o, k, p, q),
                       x_.along(1, n, first + k, row(i, p), column(j, q)));
                 }
               });
      return sum;
    });
  }

  void make_x() const noexcept {
    for_all(x_, [this](auto n, auto c, auto h, auto w) {
      const std::int64_t first = c / conv_.x_channels() * conv_.y_channels();
      T sum = start(c);
      const std::int64_t end = first + conv_.y_channels();
      in_order(
          first, end, w_.extent(2), w_.extent(3), [&](auto o, auto p, auto q) {
            const std::int64_t i = (h - row(0, p)) / conv_.attrs.stride[0];
            const std::int64_t j = (w - column(0, q)) / conv_.attrs.stride[1];
            if (row(i, p) == h && column(j, q) == w && y_.has(i, j)) {
              add(sum, o + 1 < end,
                  w_.along(0, o, c % conv_.x_channels(), p, q),
                  y_.along(1, n, o, i, j));
            }
          });
      return sum;
    });
  }

  void make_w() const noexcept {
    for_all(w_, [this](auto o, auto k, auto p, auto q) {
      const std::int64_t c = o / conv_.y_channels() * conv_.x_channels() + k;
      T sum = conv_.adds ? w_.at(o, k, p, q) : T{0};
      in_order(0, y_.extent(0), y_.extent(2), y_.extent(3),
               [&](auto n, auto i, auto j) {
                 if (x_.has(row(i, p), column(j, q))) {
                   add(sum, n + 1 < y_.extent(0),
                       x_.along(0, n, c, row(i, p), column(j, q)),
                       y_.along(0, n, o, i, j));
                 }
               });
      return sum;
    });
  }

 private:
  /// to[a, b, i, j] = sum(a, b, i, j)
  template <class Sum>
  static void for_all(const Image<T>& to, const Sum& sum) noexcept {
    for (std::int64_t a = 0; a < to.extent(0); ++a) {
      in_steps(
          0, to.extent(1), 1, to.extent(2), to.extent(3),
          [&](auto b, auto i, auto j) { to.at(a, b, i, j) = sum(a, b, i, j); });
    }
  }

  /// Calls body(k, i, j), the last fastest.
  template <class Body>
  static void in_steps(std::int64_t begin, std::int64_t end, std::int64_t step,
                       std::int64_t rows, std::int64_t columns,
                       const Body& body) noexcept {
    for (std::int64_t k = begin; k < end; k += step) {
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          body(k, i, j);
        }
      }
    }
  }

  /// Calls body(k, i, j) as in_steps(), for each k or the first of each pair.
  template <class Body>
  void in_order(std::int64_t begin, std::int64_t end, std::int64_t rows,
                std::int64_t columns, const Body& body) const noexcept {
    in_steps(begin, end, conv_.is_bf16() ? 2 : 1, rows, columns, body);
  }

  /// The row of x that row p of w meets for row i of y.
  std::int64_t row(std::int64_t i, std::int64_t p) const noexcept {
    const ConvAttrs& a = conv_.attrs;
    return i * a.stride[0] + p * a.dilation[0] - a.padding[0];
  }
  std::int64_t column(std::int64_t j, std::int64_t q) const noexcept {
    const ConvAttrs& a = conv_.attrs;
    return j * a.stride[1] + q * a.dilation[1] - a.padding[1];
  }
  T start(std::int64_t channel) const noexcept {
    const Strided& bias = conv_.bias;
    return conv_.has_bias() ? bias.as<const T>()[channel * bias.strides[0]]
                            : T{0};
  }
  /// sum += a b, or the products of the pair that begins there.
  void add(T& sum, bool has_odd, const Run<T>& a,
           const Run<T>& b) const noexcept {
    if constexpr (std::is_same_v<T, float>) {
      if (conv_.is_bf16()) {
        sum = bf16_dot(*a.at, *b.at, has_odd ? a.at[a.step] : 0.0F,
                       has_odd ? b.at[b.step] : 0.0F, sum);
        return;
      }
    }
    sum = fuses_ ? std::fma(*a.at, *b.at, sum) : *a.at * *b.at + sum;
  }

  const Conv& conv_;
  const Image<T> x_;
  const Image<T> w_;
  const Image<T> y_;
  const bool fuses_ = gemm_fuses();
};

/// A kernel of one element reads what lies a stride apart: that is an image of
/// its own, and the stride is 1.
void skip_what_is_not_read(Conv& conv) noexcept {
  constexpr std::array<std::int64_t, 2> kOnes{1, 1};
  ConvAttrs& a = conv.attrs;
  if (a.kernel != kOnes || a.padding != std::array<std::int64_t, 2>{}) {
    return;
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const int at = static_cast<int>(axis) + 2;
    conv.x.shape[at] = a.y_extent[axis];
    conv.x.strides[at] *= a.stride[axis];
  }
  a.x_extent = a.y_extent;
  a.stride = kOnes;
}

}  // namespace

Conv conv_of(const Args& args, ConvMakes makes) noexcept {
  Conv conv;
  conv.attrs = args.attrs_as<ConvAttrs>();
  switch (makes) {
    case ConvMakes::kY:
      conv.x = args.in[0];
      conv.w = args.in[1];
      conv.y = args.out[0];
      break;
    case ConvMakes::kX:
      conv.y = args.in[0];
      conv.w = args.in[1];
      conv.x = args.out[0];
      break;
    case ConvMakes::kW:
      conv.x = args.in[args.in.size() - 2];
      conv.y = args.in[args.in.size() - 1];
      conv.w = args.out[0];
      conv.adds = args.in.size() > 2;
      break;
  }
  if (args.in.size() > 2 && makes != ConvMakes::kW) {
    conv.bias = args.in[2];
  }
  if (makes != ConvMakes::kX) {
    skip_what_is_not_read(conv);
  }
  const std::int64_t paired = makes == ConvMakes::kY   ? conv.x_channels()
                              : makes == ConvMakes::kX ? conv.y_channels()
                                                       : conv.samples();
  const bool is_by_channel = conv.x_channels() == 1 && conv.y_channels() == 1;
  const bool has_pairs = paired > 1 || conv.adds;
  if (args.in[0].dtype != f32 || !has_pairs || is_by_channel) {
    conv.attrs.precision = Precision::kF32;
  }
  return conv;
}

template <class T>
void conv_reference(const Conv& conv, ConvMakes makes) noexcept {
  const Loops<T> loops(conv);
  switch (makes) {
    case ConvMakes::kY:
      loops.make_y();
      break;
    case ConvMakes::kX:
      loops.make_x();
      break;
    case ConvMakes::kW:
      loops.make_w();
      break;
  }
}

template void conv_reference<float>(const Conv&, ConvMakes) noexcept;
template void conv_reference<double>(const Conv&, ConvMakes) noexcept;

}  // namespace neap::kernels
