// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/minimum.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/minimum.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct MinimumVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  }
};

PieceFunction minimum_piece(DType dtype) {
  return float_piece<MinimumVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(minimum_piece);

struct MinimumScalar {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

void minimum(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(minimum_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "minimum.f32", .dtype = f32, .run = minimum},
    Kernel{.name = "minimum.f64", .dtype = f64, .run = minimum},
    Kernel{.name = "minimum.i32",
           .dtype = i32,
           .run = scalar_kernel<MinimumScalar, std::int32_t, 2>},
    Kernel{.name = "minimum.i64",
           .dtype = i64,
           .run = scalar_kernel<MinimumScalar, std::int64_t, 2>},
    Kernel{.name = "minimum.reference.f32",
           .dtype = f32,
           .run = reference<MinimumScalar, float, 2>},
    Kernel{.name = "minimum.reference.f64",
           .dtype = f64,
           .run = reference<MinimumScalar, double, 2>},
};

}  // namespace

constinit const KernelList minimum_kernels{"minimum", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
