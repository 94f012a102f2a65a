// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sigmoid.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sigmoid.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"
#include "neap/kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SigmoidVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return sigmoid_of(d, x);
  }
};

PieceFunction sigmoid_piece(DType dtype) {
  return float_piece<SigmoidVector, 1>(dtype);
}

struct SigmoidGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    return hn::Mul(hn::Mul(g, y), hn::Sub(constant(d, 1), y));
  }
};

PieceFunction sigmoid_grad_piece(DType dtype) {
  return float_piece<SigmoidGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sigmoid_piece);
HWY_EXPORT(sigmoid_grad_piece);

struct SigmoidScalar {
  template <class T>
  T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};

void sigmoid(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(sigmoid_piece)(args.in[0].dtype));
}

constexpr std::array kSigmoidKernels{
    Kernel{.name = "sigmoid.f32", .dtype = f32, .run = sigmoid},
    Kernel{.name = "sigmoid.f64", .dtype = f64, .run = sigmoid},
    Kernel{.name = "sigmoid.reference.f32",
           .dtype = f32,
           .run = reference<SigmoidScalar, float, 1>},
    Kernel{.name = "sigmoid.reference.f64",
           .dtype = f64,
           .run = reference<SigmoidScalar, double, 1>},
};

struct SigmoidGradScalar {
  template <class T>
  T operator()(T g, T y) const {
    return g * y * (T(1) - y);
  }
};

void sigmoid_grad(const Args& args) noexcept {
  run_elementwise(args,
                  HWY_DYNAMIC_DISPATCH(sigmoid_grad_piece)(args.in[0].dtype));
}

constexpr std::array kSigmoidGradKernels{
    Kernel{.name = "sigmoid_grad.f32", .dtype = f32, .run = sigmoid_grad},
    Kernel{.name = "sigmoid_grad.f64", .dtype = f64, .run = sigmoid_grad},
    Kernel{.name = "sigmoid_grad.reference.f32",
           .dtype = f32,
           .run = reference<SigmoidGradScalar, float, 2>},
    Kernel{.name = "sigmoid_grad.reference.f64",
           .dtype = f64,
           .run = reference<SigmoidGradScalar, double, 2>},
};

}  // namespace

constinit const KernelList sigmoid_kernels{"sigmoid", kSigmoidKernels};
constinit const KernelList sigmoid_grad_kernels{"sigmoid_grad",
                                                kSigmoidGradKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
