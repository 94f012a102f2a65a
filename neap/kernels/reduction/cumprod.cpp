// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/cumprod.hpp"

#include <array>
#include <type_traits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/rows.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 8192;  // elements; a range of one thread
// Rows that are computed side by side: a product waits for the one before it,
// and neighbouring rows share the lines of the cache where they lie across.
constexpr std::int64_t kTogether = 8;

// The running value of elements of T, and the type that it is put out as.
template <class T>
using Running =
    std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
template <class T>
using Result = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;

// The places of a row, in the order in which they are computed.
template <class T>
struct Line {
  T* at = nullptr;
  std::int64_t step = 0;

  Line() = default;
  Line(const Rows& rows, std::int64_t row, bool reverse) noexcept
      : at(rows.at<T>(row)), step(rows.stride()) {
    if (reverse) {
      at += (rows.length() - 1) * step;
      step = -step;
    }
  }
  T& operator[](std::int64_t i) const noexcept { return at[i * step]; }
};

// part(begin, end) for all rows, by threads.
template <class Part>
void for_rows(const Args& args, const Rows& rows, const Part& part) noexcept {
  threads::parallel_for(*args.executor, rows.length() == 0 ? 0 : rows.count(),
                        rows.grain(kGrain), part);
}

// Calls compute(first, count) for groups of rows.
template <class Compute>
void by_groups(std::int64_t begin, std::int64_t end,
               const Compute& compute) noexcept {
  for (std::int64_t row = begin; row < end; row += kTogether) {
    compute(row, static_cast<std::size_t>(std::min(kTogether, end - row)));
  }
}

template <class T>
void cumprod(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<CumulateAttrs>();
  const Rows x(args.in[0], static_cast<int>(attrs.axis));
  const Rows y(args.out[0], static_cast<int>(attrs.axis));
  const auto group = [&](std::int64_t row, std::size_t count) noexcept {
    std::array<Line<const T>, kTogether> from;
    std::array<Line<Result<T>>, kTogether> to;
    std::array<Running<T>, kTogether> products{};
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t at = row + static_cast<std::int64_t>(k);
      from[k] = Line<const T>(x, at, attrs.reverse);
      to[k] = Line<Result<T>>(y, at, attrs.reverse);
      products[k] = 1;
    }
    for (std::int64_t i = 0; i < x.length(); ++i) {
      for (std::size_t k = 0; k < count; ++k) {
        products[k] *= static_cast<Running<T>>(from[k][i]);
        to[k][i] = static_cast<Result<T>>(products[k]);
      }
    }
  };
  for_rows(args, x, [&](std::int64_t begin, std::int64_t end) noexcept {
    by_groups(begin, end, group);
  });
}

template <class T>
void linear_scan(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<CumulateAttrs>();
  const auto axis = static_cast<int>(attrs.axis);
  const Rows a(args.in[0], axis);
  const Rows b(args.in[1], axis);
  const Rows y(args.out[0], axis);
  const auto group = [&](std::int64_t row, std::size_t count) noexcept {
    std::array<Line<const T>, kTogether> factors;
    std::array<Line<const T>, kTogether> terms;
    std::array<Line<T>, kTogether> to;
    std::array<double, kTogether> values{};
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t at = row + static_cast<std::int64_t>(k);
      factors[k] = Line<const T>(a, at, attrs.reverse);
      terms[k] = Line<const T>(b, at, attrs.reverse);
      to[k] = Line<T>(y, at, attrs.reverse);
    }
    for (std::size_t k = 0; k < count; ++k) {  // nothing stands before them
      values[k] = static_cast<double>(terms[k][0]);
      to[k][0] = static_cast<T>(values[k]);
    }
    for (std::int64_t i = 1; i < y.length(); ++i) {
      for (std::size_t k = 0; k < count; ++k) {
        const double grown = static_cast<double>(factors[k][i]) * values[k];
        values[k] = grown + static_cast<double>(terms[k][i]);
        to[k][i] = static_cast<T>(values[k]);
      }
    }
  };
  for_rows(args, y, [&](std::int64_t begin, std::int64_t end) noexcept {
    by_groups(begin, end, group);
  });
}

constexpr std::array kProducts{
    Kernel{.name = "cumprod.f32", .dtype = f32, .run = cumprod<float>},
    Kernel{.name = "cumprod.f64", .dtype = f64, .run = cumprod<double>},
    Kernel{.name = "cumprod.i32", .dtype = i32, .run = cumprod<std::int32_t>},
    Kernel{.name = "cumprod.i64", .dtype = i64, .run = cumprod<std::int64_t>},
    Kernel{.name = "cumprod.u8", .dtype = u8, .run = cumprod<std::uint8_t>},
    Kernel{.name = "cumprod.bool", .dtype = boolean, .run = cumprod<bool>},
};

constexpr std::array kScans{
    Kernel{.name = "linear_scan.f32", .dtype = f32, .run = linear_scan<float>},
    Kernel{.name = "linear_scan.f64", .dtype = f64, .run = linear_scan<double>},
};

}  // namespace

constinit const KernelList cumprod_kernels{"cumprod", kProducts};
constinit const KernelList linear_scan_kernels{"linear_scan", kScans};

}  // namespace neap::kernels
