// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/relu.hpp"

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/relu.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct ReluVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);
  }
};

PieceFunction relu_piece(DType dtype) {
  return float_piece<ReluVector, 1>(dtype);
}

struct LeakyReluVector {
  using Attrs = SlopeAttrs;
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x,
                          hn::Mul(x, constant(d, attrs.slope)));
  }
  Attrs attrs;
};

PieceFunction leaky_relu_piece(DType dtype) {
  return float_piece<LeakyReluVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(relu_piece);

struct Relu {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(relu_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return x <= T(0) ? T(0) : x;
  }
};

HWY_EXPORT(leaky_relu_piece);

struct LeakyRelu {
  using Attrs = SlopeAttrs;
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(leaky_relu_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return x > T(0) ? x : x * static_cast<T>(attrs.slope);
  }
  Attrs attrs;
};

}  // namespace

constinit const KernelList relu_kernels{"relu", kFloatKernels<"relu", Relu, 1>};
constinit const KernelList leaky_relu_kernels{
    "leaky_relu", kFloatKernels<"leaky_relu", LeakyRelu, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
