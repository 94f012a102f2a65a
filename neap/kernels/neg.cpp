// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/neg.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/neg.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct NegVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Neg(x);
  }
};

PieceFunction neg_piece(DType dtype) {
  return float_piece<NegVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(neg_piece);

struct NegScalar {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(-to_wrapping(x));
  }
};

void neg(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(neg_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "neg.f32", .dtype = f32, .run = neg},
    Kernel{.name = "neg.f64", .dtype = f64, .run = neg},
    Kernel{.name = "neg.i32",
           .dtype = i32,
           .run = scalar_kernel<NegScalar, std::int32_t, 1>},
    Kernel{.name = "neg.i64",
           .dtype = i64,
           .run = scalar_kernel<NegScalar, std::int64_t, 1>},
    Kernel{.name = "neg.reference.f32",
           .dtype = f32,
           .run = reference<NegScalar, float, 1>},
    Kernel{.name = "neg.reference.f64",
           .dtype = f64,
           .run = reference<NegScalar, double, 1>},
};

}  // namespace

constinit const KernelList neg_kernels{"neg", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
