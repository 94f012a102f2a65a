// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sub.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sub.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SubVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};

PieceFunction sub_piece(DType dtype) {
  return float_piece<SubVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sub_piece);

struct SubScalar {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(to_wrapping(a) - to_wrapping(b));
  }
};

void sub(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(sub_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "sub.f32", .dtype = f32, .run = sub},
    Kernel{.name = "sub.f64", .dtype = f64, .run = sub},
    Kernel{.name = "sub.i32",
           .dtype = i32,
           .run = scalar_kernel<SubScalar, std::int32_t, 2>},
    Kernel{.name = "sub.i64",
           .dtype = i64,
           .run = scalar_kernel<SubScalar, std::int64_t, 2>},
    Kernel{.name = "sub.reference.f32",
           .dtype = f32,
           .run = reference<SubScalar, float, 2>},
    Kernel{.name = "sub.reference.f64",
           .dtype = f64,
           .run = reference<SubScalar, double, 2>},
};

}  // namespace

constinit const KernelList sub_kernels{"sub", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
