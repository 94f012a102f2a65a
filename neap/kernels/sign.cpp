// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sign.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sign.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SignVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = constant(d, 1);
    const V zero = hn::Zero(d);
    const V below =
        hn::IfThenElse(hn::Lt(x, zero), hn::Neg(one), hn::Add(x, zero));
    return hn::IfThenElse(hn::Gt(x, zero), one, below);
  }
};

PieceFunction sign_piece(DType dtype) {
  return float_piece<SignVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sign_piece);

struct SignScalar {
  template <class T>
  T operator()(T x) const {
    if (x > T(0)) {
      return T(1);
    }
    if (x < T(0)) {
      return T(-1);
    }
    return x == T(0) ? T(0) : x;
  }
};

void sign(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(sign_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "sign.f32", .dtype = f32, .run = sign},
    Kernel{.name = "sign.f64", .dtype = f64, .run = sign},
    Kernel{.name = "sign.i32",
           .dtype = i32,
           .run = scalar_kernel<SignScalar, std::int32_t, 1>},
    Kernel{.name = "sign.i64",
           .dtype = i64,
           .run = scalar_kernel<SignScalar, std::int64_t, 1>},
    Kernel{.name = "sign.reference.f32",
           .dtype = f32,
           .run = reference<SignScalar, float, 1>},
    Kernel{.name = "sign.reference.f64",
           .dtype = f64,
           .run = reference<SignScalar, double, 1>},
};

}  // namespace

constinit const KernelList sign_kernels{"sign", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
