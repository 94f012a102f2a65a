// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sum_of_squares.hpp"

#include <array>

#include "neap/kernels/reduce.hpp"
#include "neap/kernels/reduce_reference.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sum_of_squares.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

struct SquareVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Mul(x, x);
  }
};

// The block goes to double first, so that squares neither overflow nor round
// where x is f32.
template <class T>
void add_block(const std::byte* x, std::int64_t count,
               Running& running) noexcept {
  const T* from = reinterpret_cast<const T*>(x);
  HWY_ALIGN double wide[kReduceBlock];
  for (std::int64_t i = 0; i < count; ++i) {
    wide[i] = static_cast<double>(from[i]);
  }
  running.as<double>() += reduce_block<AddVectors>(
      SquareVector(), static_cast<const double*>(wide), count);
}

}  // namespace

ReduceFunctions sum_of_squares_functions(DType dtype) {
  return {dtype == f32 ? add_block<float> : add_block<double>, nullptr};
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sum_of_squares_functions);

void start(Running& running) noexcept {
  running.as<double>() = 0.0;
}

void finish(Running& running, std::byte* y) noexcept {
  *reinterpret_cast<double*>(y) = running.as<double>();
}

// One output, seen with the rank of x.
Strided as_total(const Strided& y, int rank) noexcept {
  Strided total = y;
  total.shape = Shape::filled(rank, 1);
  total.strides = Shape::filled(rank, 0);
  return total;
}

void sum_of_squares(const Args& args) noexcept {
  const Strided& x = args.in[0];
  const Strided total = as_total(args.out[0], x.shape.rank());
  Args reduction = args;
  reduction.out = {&total, 1};
  const auto functions =
      HWY_DYNAMIC_DISPATCH(sum_of_squares_functions)(x.dtype);
  run_reduction(reduction, ~std::uint64_t{0}, {start, functions.block, finish},
                {});
}

template <class T>
void sum_of_squares_reference(const Args& args) noexcept {
  const detail::AxesOf list(args.in[0], ~std::uint64_t{0}, true);
  double total = 0.0;
  for (std::int64_t first = 0; first < list.count(); first += kReduceBlock) {
    total += detail::block_reference(
        args.in[0].as<T>(), list, first, 0.0,
        [](double a, double b) { return a + b; },
        [](T x) { return static_cast<double>(x) * static_cast<double>(x); });
  }
  *args.out[0].as<double>() = total;
}

constexpr std::array kKernels{
    Kernel{.name = "sum_of_squares.f32", .dtype = f32, .run = sum_of_squares},
    Kernel{.name = "sum_of_squares.f64", .dtype = f64, .run = sum_of_squares},
    Kernel{.name = "sum_of_squares.reference.f32",
           .dtype = f32,
           .run = sum_of_squares_reference<float>},
    Kernel{.name = "sum_of_squares.reference.f64",
           .dtype = f64,
           .run = sum_of_squares_reference<double>},
};

}  // namespace

constinit const KernelList sum_of_squares_kernels{"sum_of_squares", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
