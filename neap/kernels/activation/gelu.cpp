// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/gelu.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/gelu.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/activation/activation-inl.hpp"
#include "neap/kernels/elementwise/erf-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr double kRootHalf = 0.70710678118654752;  // sqrt(1/2)
constexpr double kDensity = 0.39894228040143268;   // 1 / sqrt(2 pi)
constexpr double kTwiceRoot = 1.5957691216057308;  // 2 sqrt(2 / pi)
constexpr double kCubic = 0.044715;

// The share of a normal distribution below x.
template <class D, class V>
HWY_INLINE V share_below(D d, V x) {
  const V erf = erf_of(d, hn::Mul(x, constant(d, kRootHalf)));
  return hn::MulAdd(erf, constant(d, 0.5), constant(d, 0.5));
}

// (1 + tanh u) / 2 is the sigmoid of 2 u.
template <class D, class V>
HWY_INLINE V twice_u(D d, V x) {
  const V cubic = hn::Mul(constant(d, kCubic), hn::Mul(x, x));
  return hn::Mul(hn::MulAdd(cubic, x, x), constant(d, kTwiceRoot));
}

}  // namespace

struct GeluVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V safe = at_least(d, x, -40.0);
    return hn::Mul(safe, share_below(d, safe));
  }
};

PieceFunction gelu_piece(DType dtype) {
  return float_piece<GeluVector, 1>(dtype);
}

struct GeluGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    const V safe = within(d, x, 40.0);
    const V density =
        hn::Mul(gaussian_of(d, hn::Mul(safe, constant(d, kRootHalf))),
                constant(d, kDensity));
    return hn::Mul(g, hn::MulAdd(safe, density, share_below(d, safe)));
  }
};

PieceFunction gelu_grad_piece(DType dtype) {
  return float_piece<GeluGradVector, 2>(dtype);
}

struct GeluTanhVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V safe = at_least(d, x, -40.0);
    return hn::Mul(safe, sigmoid_of(d, twice_u(d, safe)));
  }
};

PieceFunction gelu_tanh_piece(DType dtype) {
  return float_piece<GeluTanhVector, 1>(dtype);
}

struct GeluTanhGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    const V safe = within(d, x, 40.0);
    const V one = constant(d, 1);
    const V s = sigmoid_of(d, twice_u(d, safe));
    const V slope =
        hn::Mul(constant(d, kTwiceRoot),
                hn::MulAdd(hn::Mul(safe, safe), constant(d, 3 * kCubic), one));
    const V rest = hn::Mul(hn::Mul(safe, hn::Sub(one, s)), slope);
    return hn::Mul(hn::Mul(g, s), hn::Add(rest, one));
  }
};

PieceFunction gelu_tanh_grad_piece(DType dtype) {
  return float_piece<GeluTanhGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

constexpr double kRootHalf = 0.70710678118654752;
constexpr double kDensity = 0.39894228040143268;
constexpr double kTwiceRoot = 1.5957691216057308;
constexpr double kCubic = 0.044715;

template <class T>
T share_below(T x) {
  return (T(1) + std::erf(x * T(kRootHalf))) / T(2);
}

template <class T>
T twice_u(T x) {
  return T(kTwiceRoot) * (x + T(kCubic) * x * x * x);
}

HWY_EXPORT(gelu_piece);

struct Gelu {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(gelu_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return x * share_below(x);
  }
};

HWY_EXPORT(gelu_grad_piece);

struct GeluGrad {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(gelu_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T x) const {
    const T density = T(kDensity) * std::exp(x * x / T(-2));
    return g * (share_below(x) + x * density);
  }
};

HWY_EXPORT(gelu_tanh_piece);

struct GeluTanh {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(gelu_tanh_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return x / (T(1) + std::exp(-twice_u(x)));
  }
};

HWY_EXPORT(gelu_tanh_grad_piece);

struct GeluTanhGrad {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(gelu_tanh_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T x) const {
    const T s = T(1) / (T(1) + std::exp(-twice_u(x)));
    const T slope = T(kTwiceRoot) * (T(1) + T(3 * kCubic) * x * x);
    return g * s * (T(1) + x * (T(1) - s) * slope);
  }
};

}  // namespace

constinit const KernelList gelu_kernels{"gelu", kFloatKernels<"gelu", Gelu, 1>};
constinit const KernelList gelu_grad_kernels{
    "gelu_grad", kFloatKernels<"gelu_grad", GeluGrad, 2>};
constinit const KernelList gelu_tanh_kernels{
    "gelu_tanh", kFloatKernels<"gelu_tanh", GeluTanh, 1>};
constinit const KernelList gelu_tanh_grad_kernels{
    "gelu_tanh_grad", kFloatKernels<"gelu_tanh_grad", GeluTanhGrad, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
