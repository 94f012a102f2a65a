// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/square.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/square.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SquareVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Mul(x, x);
  }
};

PieceFunction square_piece(DType dtype) {
  return float_piece<SquareVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(square_piece);

struct SquareScalar {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(to_wrapping(x) * to_wrapping(x));
  }
};

void square(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(square_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "square.f32", .dtype = f32, .run = square},
    Kernel{.name = "square.f64", .dtype = f64, .run = square},
    Kernel{.name = "square.i32",
           .dtype = i32,
           .run = scalar_kernel<SquareScalar, std::int32_t, 1>},
    Kernel{.name = "square.i64",
           .dtype = i64,
           .run = scalar_kernel<SquareScalar, std::int64_t, 1>},
    Kernel{.name = "square.reference.f32",
           .dtype = f32,
           .run = reference<SquareScalar, float, 1>},
    Kernel{.name = "square.reference.f64",
           .dtype = f64,
           .run = reference<SquareScalar, double, 1>},
};

}  // namespace

constinit const KernelList square_kernels{"square", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
