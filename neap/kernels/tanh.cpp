// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/tanh.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/tanh.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"
#include "neap/kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct TanhVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return tanh_of(d, x);
  }
};

PieceFunction tanh_piece(DType dtype) {
  return float_piece<TanhVector, 1>(dtype);
}

struct TanhGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    return hn::Mul(g, hn::NegMulAdd(y, y, constant(d, 1)));
  }
};

PieceFunction tanh_grad_piece(DType dtype) {
  return float_piece<TanhGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(tanh_piece);
HWY_EXPORT(tanh_grad_piece);

struct TanhScalar {
  template <class T>
  T operator()(T x) const {
    return std::tanh(x);
  }
};

void tanh(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(tanh_piece)(args.in[0].dtype));
}

constexpr std::array kTanhKernels{
    Kernel{.name = "tanh.f32", .dtype = f32, .run = tanh},
    Kernel{.name = "tanh.f64", .dtype = f64, .run = tanh},
    Kernel{.name = "tanh.reference.f32",
           .dtype = f32,
           .run = reference<TanhScalar, float, 1>},
    Kernel{.name = "tanh.reference.f64",
           .dtype = f64,
           .run = reference<TanhScalar, double, 1>},
};

struct TanhGradScalar {
  template <class T>
  T operator()(T g, T y) const {
    return g * (T(1) - y * y);
  }
};

void tanh_grad(const Args& args) noexcept {
  run_elementwise(args,
                  HWY_DYNAMIC_DISPATCH(tanh_grad_piece)(args.in[0].dtype));
}

constexpr std::array kTanhGradKernels{
    Kernel{.name = "tanh_grad.f32", .dtype = f32, .run = tanh_grad},
    Kernel{.name = "tanh_grad.f64", .dtype = f64, .run = tanh_grad},
    Kernel{.name = "tanh_grad.reference.f32",
           .dtype = f32,
           .run = reference<TanhGradScalar, float, 2>},
    Kernel{.name = "tanh_grad.reference.f64",
           .dtype = f64,
           .run = reference<TanhGradScalar, double, 2>},
};

}  // namespace

constinit const KernelList tanh_kernels{"tanh", kTanhKernels};
constinit const KernelList tanh_grad_kernels{"tanh_grad", kTanhGradKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
