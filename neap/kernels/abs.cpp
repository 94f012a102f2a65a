// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/abs.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/abs.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct AbsVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Abs(x);
  }
};

PieceFunction abs_piece(DType dtype) {
  return float_piece<AbsVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(abs_piece);

struct AbsScalar {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {
      return x < 0 ? static_cast<T>(-to_wrapping(x)) : x;
    }
  }
};

void abs(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(abs_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "abs.f32", .dtype = f32, .run = abs},
    Kernel{.name = "abs.f64", .dtype = f64, .run = abs},
    Kernel{.name = "abs.i32",
           .dtype = i32,
           .run = scalar_kernel<AbsScalar, std::int32_t, 1>},
    Kernel{.name = "abs.i64",
           .dtype = i64,
           .run = scalar_kernel<AbsScalar, std::int64_t, 1>},
    Kernel{.name = "abs.reference.f32",
           .dtype = f32,
           .run = reference<AbsScalar, float, 1>},
    Kernel{.name = "abs.reference.f64",
           .dtype = f64,
           .run = reference<AbsScalar, double, 1>},
};

}  // namespace

constinit const KernelList abs_kernels{"abs", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
