// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reciprocal.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/reciprocal.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct ReciprocalVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(constant(d, 1), x);
  }
};

PieceFunction reciprocal_piece(DType dtype) {
  return float_piece<ReciprocalVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(reciprocal_piece);

struct ReciprocalScalar {
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};

void reciprocal(const Args& args) noexcept {
  run_elementwise(args,
                  HWY_DYNAMIC_DISPATCH(reciprocal_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "reciprocal.f32", .dtype = f32, .run = reciprocal},
    Kernel{.name = "reciprocal.f64", .dtype = f64, .run = reciprocal},
    Kernel{.name = "reciprocal.reference.f32",
           .dtype = f32,
           .run = reference<ReciprocalScalar, float, 1>},
    Kernel{.name = "reciprocal.reference.f64",
           .dtype = f64,
           .run = reference<ReciprocalScalar, double, 1>},
};

}  // namespace

constinit const KernelList reciprocal_kernels{"reciprocal", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
