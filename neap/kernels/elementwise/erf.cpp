// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/erf.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/erf.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/erf-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct ErfVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return erf_of(d, x);
  }
};

PieceFunction erf_piece(DType dtype) {
  return float_piece<ErfVector, 1>(dtype);
}

struct ErfcVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return erfc_of(d, x);
  }
};

PieceFunction erfc_piece(DType dtype) {
  return float_piece<ErfcVector, 1>(dtype);
}

struct GaussianVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return gaussian_of(d, x);
  }
};

PieceFunction gaussian_piece(DType dtype) {
  return float_piece<GaussianVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(erf_piece);

struct Erf {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(erf_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::erf(x);
  }
};

HWY_EXPORT(erfc_piece);

struct Erfc {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(erfc_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::erfc(x);
  }
};

HWY_EXPORT(gaussian_piece);

struct Gaussian {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(gaussian_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    // The rounding error of the square counts: it goes into an exponent.
    const T square = x * x;
    if (!(square < T(1000))) {
      return std::exp(-square);
    }
    return std::exp(-square) * (T(1) - std::fma(x, x, -square));
  }
};

}  // namespace

constinit const KernelList erf_kernels{"erf", kFloatKernels<"erf", Erf, 1>};
constinit const KernelList erfc_kernels{"erfc", kFloatKernels<"erfc", Erfc, 1>};
constinit const KernelList gaussian_kernels{
    "gaussian", kFloatKernels<"gaussian", Gaussian, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
