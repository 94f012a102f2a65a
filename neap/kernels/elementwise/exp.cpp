// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/exp.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/exp.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct ExpVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exp_of(d, x);
  }
};

PieceFunction exp_piece(DType dtype) {
  return float_piece<ExpVector, 1>(dtype);
}

struct Expm1Vector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return expm1_of(d, x);
  }
};

PieceFunction expm1_piece(DType dtype) {
  return float_piece<Expm1Vector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(exp_piece);

struct Exp {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(exp_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
};

HWY_EXPORT(expm1_piece);

struct Expm1 {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(expm1_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::expm1(x);
  }
};

}  // namespace

constinit const KernelList exp_kernels{"exp", kFloatKernels<"exp", Exp, 1>};
constinit const KernelList expm1_kernels{"expm1",
                                         kFloatKernels<"expm1", Expm1, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
