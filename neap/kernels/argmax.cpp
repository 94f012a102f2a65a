// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/argmax.hpp"

#include <array>

#include "neap/kernels/attrs.hpp"
#include "neap/kernels/rows.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 8192;  // input elements; a range of one thread

// x > best, with NaN above all numbers and no NaN above another.
template <class T>
bool is_above(T x, T best) noexcept {
  return x > best || (x != x && best == best);
}

template <>
bool is_above(std::int32_t x, std::int32_t best) noexcept {
  return x > best;
}

template <>
bool is_above(std::int64_t x, std::int64_t best) noexcept {
  return x > best;
}

template <class T>
std::int64_t argmax_of(const T* x, std::int64_t stride,
                       std::int64_t length) noexcept {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < length; ++i) {
    if (is_above(x[i * stride], x[best * stride])) {
      best = i;
    }
  }
  return best;
}

template <class T>
void argmax(const Args& args) noexcept {
  const int axis = static_cast<int>(args.attrs_as<AxisAttrs>().axis);
  const Rows x(args.in[0], axis);
  const Strided& y = args.out[0];
  const auto part = [&](std::int64_t begin, std::int64_t end) noexcept {
    for (std::int64_t row = begin; row < end; ++row) {
      element<std::int64_t>(y, row) =
          argmax_of(x.at<T>(row), x.stride(), x.length());
    }
  };
  threads::parallel_for(*args.executor, x.count(), x.grain(kGrain), part);
}

constexpr std::array kKernels{
    Kernel{.name = "argmax.f32", .dtype = f32, .run = argmax<float>},
    Kernel{.name = "argmax.f64", .dtype = f64, .run = argmax<double>},
    Kernel{.name = "argmax.i32", .dtype = i32, .run = argmax<std::int32_t>},
    Kernel{.name = "argmax.i64", .dtype = i64, .run = argmax<std::int64_t>},
};

}  // namespace

constinit const KernelList argmax_kernels{"argmax", kKernels};

}  // namespace neap::kernels
