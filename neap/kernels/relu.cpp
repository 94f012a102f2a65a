// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/relu.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/relu.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct ReluVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);
  }
};

PieceFunction relu_piece(DType dtype) {
  return float_piece<ReluVector, 1>(dtype);
}

struct ReluGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), g);
  }
};

PieceFunction relu_grad_piece(DType dtype) {
  return float_piece<ReluGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(relu_piece);
HWY_EXPORT(relu_grad_piece);

struct ReluScalar {
  template <class T>
  T operator()(T x) const {
    return x <= T(0) ? T(0) : x;
  }
};

void relu(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(relu_piece)(args.in[0].dtype));
}

constexpr std::array kReluKernels{
    Kernel{.name = "relu.f32", .dtype = f32, .run = relu},
    Kernel{.name = "relu.f64", .dtype = f64, .run = relu},
    Kernel{.name = "relu.reference.f32",
           .dtype = f32,
           .run = reference<ReluScalar, float, 1>},
    Kernel{.name = "relu.reference.f64",
           .dtype = f64,
           .run = reference<ReluScalar, double, 1>},
};

struct ReluGradScalar {
  template <class T>
  T operator()(T g, T y) const {
    return y > T(0) ? g : T(0);
  }
};

void relu_grad(const Args& args) noexcept {
  run_elementwise(args,
                  HWY_DYNAMIC_DISPATCH(relu_grad_piece)(args.in[0].dtype));
}

constexpr std::array kReluGradKernels{
    Kernel{.name = "relu_grad.f32", .dtype = f32, .run = relu_grad},
    Kernel{.name = "relu_grad.f64", .dtype = f64, .run = relu_grad},
    Kernel{.name = "relu_grad.reference.f32",
           .dtype = f32,
           .run = reference<ReluGradScalar, float, 2>},
    Kernel{.name = "relu_grad.reference.f64",
           .dtype = f64,
           .run = reference<ReluGradScalar, double, 2>},
};

}  // namespace

constinit const KernelList relu_kernels{"relu", kReluKernels};
constinit const KernelList relu_grad_kernels{"relu_grad", kReluGradKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
