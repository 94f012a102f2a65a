// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/cumsum.hpp"

#include <algorithm>
#include <array>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/rows.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 8192;  // elements; a range of one thread
// Rows whose sums wait side by side: along dense ones more would need more
// registers than there are (nine times slower), across them a cache line is
// used while it is there.
constexpr std::int64_t kDense = 4;
constexpr std::int64_t kAcross = 8;

// Elements of T added up as Sum, put out as R.
template <class T>
struct Types {
  using Sum = std::uint64_t;
  using Result = std::int64_t;
};
template <>
struct Types<float> {
  using Sum = double;
  using Result = float;
};
template <>
struct Types<double> {
  using Sum = double;
  using Result = double;
};

// kRows rows from number `row` on, one step of each after the other.
template <class T, std::int64_t kRows>
void add_up(const Rows& x, const Rows& y, bool reverse,
            std::int64_t row) noexcept {
  using Sum = typename Types<T>::Sum;
  using Result = typename Types<T>::Result;
  std::array<const T*, kRows> from;
  std::array<Result*, kRows> to;
  std::array<Sum, kRows> sums{};
  const std::int64_t first = reverse ? x.length() - 1 : 0;
  for (std::int64_t r = 0; r < kRows; ++r) {
    const auto k = static_cast<std::size_t>(r);
    from[k] = x.at<const T>(row + r) + first * x.stride();
    to[k] = y.at<Result>(row + r) + first * y.stride();
  }
  const std::int64_t x_step = reverse ? -x.stride() : x.stride();
  const std::int64_t y_step = reverse ? -y.stride() : y.stride();
  for (std::int64_t i = 0; i < x.length(); ++i) {
    for (std::size_t k = 0; k < kRows; ++k) {
      sums[k] += static_cast<Sum>(from[k][i * x_step]);
      to[k][i * y_step] = static_cast<Result>(sums[k]);
    }
  }
}

template <class T, std::int64_t kTogether>
void add_up_rows(const Rows& x, const Rows& y, bool reverse, std::int64_t begin,
                 std::int64_t end) noexcept {
  std::int64_t row = begin;
  for (; row + kTogether <= end; row += kTogether) {
    add_up<T, kTogether>(x, y, reverse, row);
  }
  for (; row < end; ++row) {
    add_up<T, 1>(x, y, reverse, row);
  }
}

template <class T>
void cumsum(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<CumulateAttrs>();
  const Rows x(args.in[0], static_cast<int>(attrs.axis));
  const Rows y(args.out[0], static_cast<int>(attrs.axis));
  const auto part = [&](std::int64_t begin, std::int64_t end) noexcept {
    x.stride() == 1 ? add_up_rows<T, kDense>(x, y, attrs.reverse, begin, end)
                    : add_up_rows<T, kAcross>(x, y, attrs.reverse, begin, end);
  };
  threads::parallel_for(*args.executor, x.length() == 0 ? 0 : x.count(),
                        x.grain(kGrain), part);
}

template <class T>
void cumsum_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<CumulateAttrs>();
  const Rows x(args.in[0], static_cast<int>(attrs.axis));
  const Rows y(args.out[0], static_cast<int>(attrs.axis));
  for (std::int64_t row = 0; row < x.count(); ++row) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < x.length(); ++i) {
      const std::int64_t at = attrs.reverse ? x.length() - 1 - i : i;
      sum += static_cast<double>(x.at<const T>(row)[at * x.stride()]);
      y.at<T>(row)[at * y.stride()] = static_cast<T>(sum);
    }
  }
}

constexpr std::array kKernels{
    Kernel{.name = "cumsum.f32", .dtype = f32, .run = cumsum<float>},
    Kernel{.name = "cumsum.f64", .dtype = f64, .run = cumsum<double>},
    Kernel{.name = "cumsum.i32", .dtype = i32, .run = cumsum<std::int32_t>},
    Kernel{.name = "cumsum.i64", .dtype = i64, .run = cumsum<std::int64_t>},
    Kernel{.name = "cumsum.u8", .dtype = u8, .run = cumsum<std::uint8_t>},
    Kernel{.name = "cumsum.bool", .dtype = boolean, .run = cumsum<bool>},
    Kernel{.name = "cumsum.reference.f32",
           .dtype = f32,
           .run = cumsum_reference<float>},
    Kernel{.name = "cumsum.reference.f64",
           .dtype = f64,
           .run = cumsum_reference<double>},
};

}  // namespace

constinit const KernelList cumsum_kernels{"cumsum", kKernels};

}  // namespace neap::kernels
