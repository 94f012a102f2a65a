// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/elu.hpp"

#include <cmath>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/elu.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct EluVector {
  using Attrs = EluAttrs;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const auto is_above = hn::Gt(x, hn::Zero(d));
    if (hn::AllTrue(d, is_above)) {
      return x;
    }
    const V below = hn::Mul(constant(d, attrs.alpha), expm1_of(d, x));
    return hn::IfThenElse(is_above, x, below);
  }
  Attrs attrs;
};

PieceFunction elu_piece(DType dtype) {
  return float_piece<EluVector, 1>(dtype);
}

struct EluGradVector {
  using Attrs = EluAttrs;
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    const V below = hn::Mul(g, hn::Add(y, constant(d, attrs.alpha)));
    return hn::IfThenElse(hn::Gt(y, hn::Zero(d)), g, below);
  }
  Attrs attrs;
};

PieceFunction elu_grad_piece(DType dtype) {
  return float_piece<EluGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(elu_piece);

struct Elu {
  using Attrs = EluAttrs;
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(elu_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return x > T(0) ? x : T(attrs.alpha) * std::expm1(x);
  }
  Attrs attrs;
};

HWY_EXPORT(elu_grad_piece);

struct EluGrad {
  using Attrs = EluAttrs;
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(elu_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T y) const {
    return y > T(0) ? g : g * (y + T(attrs.alpha));
  }
  Attrs attrs;
};

}  // namespace

constinit const KernelList elu_kernels{"elu", kFloatKernels<"elu", Elu, 1>};
constinit const KernelList elu_grad_kernels{
    "elu_grad", kFloatKernels<"elu_grad", EluGrad, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
