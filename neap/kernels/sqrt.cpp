// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sqrt.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sqrt.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SqrtVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Sqrt(x);
  }
};

PieceFunction sqrt_piece(DType dtype) {
  return float_piece<SqrtVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sqrt_piece);

struct SqrtScalar {
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};

void sqrt(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(sqrt_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "sqrt.f32", .dtype = f32, .run = sqrt},
    Kernel{.name = "sqrt.f64", .dtype = f64, .run = sqrt},
    Kernel{.name = "sqrt.reference.f32",
           .dtype = f32,
           .run = reference<SqrtScalar, float, 1>},
    Kernel{.name = "sqrt.reference.f64",
           .dtype = f64,
           .run = reference<SqrtScalar, double, 1>},
};

}  // namespace

constinit const KernelList sqrt_kernels{"sqrt", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
