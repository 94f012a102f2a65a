// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/amax.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "neap/kernels/attrs.hpp"
#include "neap/kernels/reduce.hpp"
#include "neap/kernels/reduce_reference.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/amax.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void join_block(const std::byte* x, std::int64_t count,
                Running& running) noexcept {
  const T block =
      reduce_block<LargerVectors>(Same(), reinterpret_cast<const T*>(x), count);
  T& largest = running.as<T>();
  largest = larger(largest, block);
}

struct LargerVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return LargerVectors::join(a, b);
  }
};

template <class T>
void join_row(const std::byte* x, std::byte* y, std::int64_t count) noexcept {
  T* largest = reinterpret_cast<T*>(y);
  map_arrays(LargerVector(), count, largest, static_cast<const T*>(largest),
             reinterpret_cast<const T*>(x));
}

}  // namespace

ReduceFunctions amax_functions(DType dtype) {
  return dtype == f32 ? ReduceFunctions{join_block<float>, join_row<float>}
                      : ReduceFunctions{join_block<double>, join_row<double>};
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(amax_functions);

template <class T>
constexpr T kSmallest = std::is_floating_point_v<T>
                            ? -std::numeric_limits<T>::infinity()
                            : std::numeric_limits<T>::min();

template <class T>
void start_row(Running& running) noexcept {
  running.as<T>() = kSmallest<T>;
}

template <class T>
void finish_row(Running& running, std::byte* y) noexcept {
  *reinterpret_cast<T*>(y) = running.as<T>();
}

template <class T>
void start_columns(std::byte* y, std::int64_t count) noexcept {
  std::fill_n(reinterpret_cast<T*>(y), count, kSmallest<T>);
}

template <class T>
void amax_floats(const Args& args) noexcept {
  const auto functions = HWY_DYNAMIC_DISPATCH(amax_functions)(dtype_of<T>);
  run_reduction(args, args.attrs_as<ReduceAttrs>().axes,
                {start_row<T>, functions.block, finish_row<T>},
                {start_columns<T>, functions.row});
}

template <class T>
void join_integer_block(const std::byte* x, std::int64_t count,
                        Running& running) noexcept {
  const T* from = reinterpret_cast<const T*>(x);
  running.as<T>() =
      std::max(running.as<T>(), *std::max_element(from, from + count));
}

template <class T>
void join_integer_row(const std::byte* x, std::byte* y,
                      std::int64_t count) noexcept {
  const T* from = reinterpret_cast<const T*>(x);
  T* largest = reinterpret_cast<T*>(y);
  for (std::int64_t i = 0; i < count; ++i) {
    largest[i] = std::max(largest[i], from[i]);
  }
}

template <class T>
void amax_integers(const Args& args) noexcept {
  run_reduction(args, args.attrs_as<ReduceAttrs>().axes,
                {start_row<T>, join_integer_block<T>, finish_row<T>},
                {start_columns<T>, join_integer_row<T>});
}

template <class T>
void amax_reference(const Args& args) noexcept {
  reduce_reference<T>(args, args.attrs_as<ReduceAttrs>().axes, kSmallest<T>,
                      [](auto a, auto b) { return larger(a, b); });
}

constexpr std::array kKernels{
    Kernel{.name = "amax.f32", .dtype = f32, .run = amax_floats<float>},
    Kernel{.name = "amax.f64", .dtype = f64, .run = amax_floats<double>},
    Kernel{
        .name = "amax.i32", .dtype = i32, .run = amax_integers<std::int32_t>},
    Kernel{
        .name = "amax.i64", .dtype = i64, .run = amax_integers<std::int64_t>},
    Kernel{.name = "amax.u8", .dtype = u8, .run = amax_integers<std::uint8_t>},
    Kernel{.name = "amax.reference.f32",
           .dtype = f32,
           .run = amax_reference<float>},
    Kernel{.name = "amax.reference.f64",
           .dtype = f64,
           .run = amax_reference<double>},
};

}  // namespace

constinit const KernelList amax_kernels{"amax", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
