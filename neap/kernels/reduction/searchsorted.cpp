// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/searchsorted.hpp"

#include <array>
#include <type_traits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 1024;  // values; a range of one thread

template <class T>
bool is_before(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return a < b || (b != b && a == a);
  } else {
    return a < b;
  }
}

// How many of a row come before the value, or are equal to it.
template <class T>
std::int64_t count_before(const T* row, std::int64_t stride,
                          std::int64_t length, T value, bool right) noexcept {
  std::int64_t low = 0;
  std::int64_t high = length;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const T there = row[middle * stride];
    const bool goes_on =
        right ? !is_before(value, there) : is_before(there, value);
    low = goes_on ? middle + 1 : low;
    high = goes_on ? high : middle;
  }
  return low;
}

template <class T>
void searchsorted(const Args& args) noexcept {
  const bool right = args.attrs_as<SearchAttrs>().right;
  Strided rows = args.in[0];
  const std::int64_t length = rows.shape.back();
  const std::int64_t stride = rows.strides.back();
  rows.shape.erase(rows.shape.rank() - 1);
  rows.strides.erase(rows.strides.rank() - 1);
  const bool is_one = rows.shape.rank() == 0;
  const std::int64_t width = args.in[1].shape.back();
  threads::parallel_for(
      *args.executor, args.out[0].shape.element_count(), kGrain,
      [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t i = begin; i < end; ++i) {
          const T* row = is_one ? rows.as<T>() : &element<T>(rows, i / width);
          element<std::int64_t>(args.out[0], i) = count_before(
              row, stride, length, element<T>(args.in[1], i), right);
        }
      });
}

constexpr std::array kKernels{
    Kernel{
        .name = "searchsorted.f32", .dtype = f32, .run = searchsorted<float>},
    Kernel{
        .name = "searchsorted.f64", .dtype = f64, .run = searchsorted<double>},
    Kernel{.name = "searchsorted.i32",
           .dtype = i32,
           .run = searchsorted<std::int32_t>},
    Kernel{.name = "searchsorted.i64",
           .dtype = i64,
           .run = searchsorted<std::int64_t>},
};

}  // namespace

constinit const KernelList searchsorted_kernels{"searchsorted", kKernels};

}  // namespace neap::kernels
