// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/relu.hpp"

#include <array>

#include "neap/kernels/activation_attrs.hpp"
#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/relu.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

struct ReluVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);
  }
};

template <class T>
struct LeakyReluVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x,
                          hn::Mul(x, hn::Set(d, slope)));
  }
  T slope;
};

template <class T>
void leaky_relu_map(const Piece& piece) noexcept {
  const auto slope = static_cast<T>(piece.attrs_as<SlopeAttrs>().slope);
  map_arrays(LeakyReluVector<T>{slope}, piece.count, piece.at<T>(1),
             piece.at<const T>(0));
}

}  // namespace

PieceFunction relu_piece(DType dtype) {
  return float_piece<ReluVector, 1>(dtype);
}

PieceFunction leaky_relu_piece(DType dtype) {
  return dtype == f32 ? leaky_relu_map<float> : leaky_relu_map<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(relu_piece);
HWY_EXPORT(leaky_relu_piece);

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

void leaky_relu(const Args& args) noexcept {
  run_elementwise(args,
                  HWY_DYNAMIC_DISPATCH(leaky_relu_piece)(args.in[0].dtype));
}

template <class T>
void leaky_relu_reference(const Args& args) noexcept {
  const auto slope = static_cast<T>(args.attrs_as<SlopeAttrs>().slope);
  for (std::int64_t i = 0; i < args.out[0].shape.element_count(); ++i) {
    const T x = element<T>(args.in[0], i);
    element<T>(args.out[0], i) = x > T(0) ? x : x * slope;
  }
}

constexpr std::array kLeakyReluKernels{
    Kernel{.name = "leaky_relu.f32", .dtype = f32, .run = leaky_relu},
    Kernel{.name = "leaky_relu.f64", .dtype = f64, .run = leaky_relu},
    Kernel{.name = "leaky_relu.reference.f32",
           .dtype = f32,
           .run = leaky_relu_reference<float>},
    Kernel{.name = "leaky_relu.reference.f64",
           .dtype = f64,
           .run = leaky_relu_reference<double>},
};

}  // namespace

constinit const KernelList relu_kernels{"relu", kReluKernels};
constinit const KernelList leaky_relu_kernels{"leaky_relu", kLeakyReluKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
