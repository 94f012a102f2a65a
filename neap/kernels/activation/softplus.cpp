// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/softplus.hpp"

#include <cmath>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/softplus.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/activation/activation-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SoftplusVector {
  using Attrs = SoftplusAttrs;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V z = hn::Mul(x, constant(d, attrs.beta));
    const V y = hn::Div(softplus_of(d, z), constant(d, attrs.beta));
    return hn::IfThenElse(hn::Gt(z, constant(d, attrs.threshold)), x, y);
  }
  Attrs attrs;
};

PieceFunction softplus_piece(DType dtype) {
  return float_piece<SoftplusVector, 1>(dtype);
}

struct SoftplusGradVector {
  using Attrs = SoftplusAttrs;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    const V z = hn::Mul(x, constant(d, attrs.beta));
    return hn::IfThenElse(hn::Gt(z, constant(d, attrs.threshold)), g,
                          hn::Mul(g, sigmoid_of(d, z)));
  }
  Attrs attrs;
};

PieceFunction softplus_grad_piece(DType dtype) {
  return float_piece<SoftplusGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(softplus_piece);

struct Softplus {
  using Attrs = SoftplusAttrs;
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(softplus_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    const T z = x * T(attrs.beta);
    return z > T(attrs.threshold) ? x : std::log1p(std::exp(z)) / T(attrs.beta);
  }
  Attrs attrs;
};

HWY_EXPORT(softplus_grad_piece);

struct SoftplusGrad {
  using Attrs = SoftplusAttrs;
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(softplus_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T x) const {
    const T z = x * T(attrs.beta);
    return z > T(attrs.threshold) ? g : g / (T(1) + std::exp(-z));
  }
  Attrs attrs;
};

}  // namespace

constinit const KernelList softplus_kernels{
    "softplus", kFloatKernels<"softplus", Softplus, 1>};
constinit const KernelList softplus_grad_kernels{
    "softplus_grad", kFloatKernels<"softplus_grad", SoftplusGrad, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
