// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/maximum.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/maximum.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct MaximumVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
};

PieceFunction maximum_piece(DType dtype) {
  return float_piece<MaximumVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(maximum_piece);

struct MaximumScalar {
  template <class T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

void maximum(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(maximum_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "maximum.f32", .dtype = f32, .run = maximum},
    Kernel{.name = "maximum.f64", .dtype = f64, .run = maximum},
    Kernel{.name = "maximum.i32",
           .dtype = i32,
           .run = scalar_kernel<MaximumScalar, std::int32_t, 2>},
    Kernel{.name = "maximum.i64",
           .dtype = i64,
           .run = scalar_kernel<MaximumScalar, std::int64_t, 2>},
    Kernel{.name = "maximum.reference.f32",
           .dtype = f32,
           .run = reference<MaximumScalar, float, 2>},
    Kernel{.name = "maximum.reference.f64",
           .dtype = f64,
           .run = reference<MaximumScalar, double, 2>},
};

}  // namespace

constinit const KernelList maximum_kernels{"maximum", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
