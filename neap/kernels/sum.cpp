// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sum.hpp"

#include <algorithm>
#include <array>

#include "neap/kernels/attrs.hpp"
#include "neap/kernels/reduce.hpp"
#include "neap/kernels/reduce_reference.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sum.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void add_block(const std::byte* x, std::int64_t count,
               Running& running) noexcept {
  running.as<double>() += static_cast<double>(
      reduce_block<AddVectors>(Same(), reinterpret_cast<const T*>(x), count));
}

struct AddVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

template <class T>
void add_row(const std::byte* x, std::byte* y, std::int64_t count) noexcept {
  T* sums = reinterpret_cast<T*>(y);
  map_arrays(AddVector(), count, sums, static_cast<const T*>(sums),
             reinterpret_cast<const T*>(x));
}

}  // namespace

ReduceFunctions sum_functions(DType dtype) {
  return dtype == f32 ? ReduceFunctions{add_block<float>, add_row<float>}
                      : ReduceFunctions{add_block<double>, add_row<double>};
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sum_functions);

template <class T>
void start_row(Running& running) noexcept {
  running.as<T>() = T(0);
}

template <class T>
void finish_row(Running& running, std::byte* y) noexcept {
  *reinterpret_cast<T*>(y) = static_cast<T>(running.as<double>());
}

template <class T>
void start_columns(std::byte* y, std::int64_t count) noexcept {
  std::fill_n(reinterpret_cast<T*>(y), count, T(0));
}

template <class T>
void sum_floats(const Args& args) noexcept {
  const auto functions = HWY_DYNAMIC_DISPATCH(sum_functions)(dtype_of<T>);
  run_reduction(args, args.attrs_as<ReduceAttrs>().axes,
                {start_row<double>, functions.block, finish_row<T>},
                {start_columns<T>, functions.row});
}

// Integers add up in i64, wrapping: unsigned, then the same bits.
template <class T>
void add_integer_block(const std::byte* x, std::int64_t count,
                       Running& running) noexcept {
  const T* from = reinterpret_cast<const T*>(x);
  std::uint64_t sum = running.as<std::uint64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    sum += static_cast<std::uint64_t>(from[i]);
  }
  running.as<std::uint64_t>() = sum;
}

template <class T>
void add_integer_row(const std::byte* x, std::byte* y,
                     std::int64_t count) noexcept {
  const T* from = reinterpret_cast<const T*>(x);
  auto* sums = reinterpret_cast<std::uint64_t*>(y);
  for (std::int64_t i = 0; i < count; ++i) {
    sums[i] += static_cast<std::uint64_t>(from[i]);
  }
}

void finish_integer(Running& running, std::byte* y) noexcept {
  *reinterpret_cast<std::uint64_t*>(y) = running.as<std::uint64_t>();
}

template <class T>
void sum_integers(const Args& args) noexcept {
  run_reduction(
      args, args.attrs_as<ReduceAttrs>().axes,
      {start_row<std::uint64_t>, add_integer_block<T>, finish_integer},
      {start_columns<std::uint64_t>, add_integer_row<T>});
}

template <class T>
void sum_reference(const Args& args) noexcept {
  reduce_reference<T>(args, args.attrs_as<ReduceAttrs>().axes, T(0),
                      [](auto a, auto b) { return a + b; });
}

constexpr std::array kKernels{
    Kernel{.name = "sum.f32", .dtype = f32, .run = sum_floats<float>},
    Kernel{.name = "sum.f64", .dtype = f64, .run = sum_floats<double>},
    Kernel{.name = "sum.i32", .dtype = i32, .run = sum_integers<std::int32_t>},
    Kernel{.name = "sum.i64", .dtype = i64, .run = sum_integers<std::int64_t>},
    Kernel{.name = "sum.u8", .dtype = u8, .run = sum_integers<std::uint8_t>},
    Kernel{.name = "sum.bool", .dtype = boolean, .run = sum_integers<bool>},
    Kernel{
        .name = "sum.reference.f32", .dtype = f32, .run = sum_reference<float>},
    Kernel{.name = "sum.reference.f64",
           .dtype = f64,
           .run = sum_reference<double>},
};

}  // namespace

constinit const KernelList sum_kernels{"sum", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
