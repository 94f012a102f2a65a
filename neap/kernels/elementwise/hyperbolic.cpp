// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/hyperbolic.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/hyperbolic.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/hyperbolic-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SinhVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return sinh_of(d, x);
  }
};

PieceFunction sinh_piece(DType dtype) {
  return float_piece<SinhVector, 1>(dtype);
}

struct CoshVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return cosh_of(d, x);
  }
};

PieceFunction cosh_piece(DType dtype) {
  return float_piece<CoshVector, 1>(dtype);
}

struct AsinhVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return asinh_of(d, x);
  }
};

PieceFunction asinh_piece(DType dtype) {
  return float_piece<AsinhVector, 1>(dtype);
}

struct AcoshVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return acosh_of(d, x);
  }
};

PieceFunction acosh_piece(DType dtype) {
  return float_piece<AcoshVector, 1>(dtype);
}

struct AtanhVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return atanh_of(d, x);
  }
};

PieceFunction atanh_piece(DType dtype) {
  return float_piece<AtanhVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sinh_piece);

struct Sinh {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(sinh_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::sinh(x);
  }
};

HWY_EXPORT(cosh_piece);

struct Cosh {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(cosh_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::cosh(x);
  }
};

HWY_EXPORT(asinh_piece);

struct Asinh {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(asinh_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::asinh(x);
  }
};

HWY_EXPORT(acosh_piece);

struct Acosh {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(acosh_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::acosh(x);
  }
};

HWY_EXPORT(atanh_piece);

struct Atanh {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(atanh_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::atanh(x);
  }
};

}  // namespace

constinit const KernelList sinh_kernels{"sinh", kFloatKernels<"sinh", Sinh, 1>};
constinit const KernelList cosh_kernels{"cosh", kFloatKernels<"cosh", Cosh, 1>};
constinit const KernelList asinh_kernels{"asinh",
                                         kFloatKernels<"asinh", Asinh, 1>};
constinit const KernelList acosh_kernels{"acosh",
                                         kFloatKernels<"acosh", Acosh, 1>};
constinit const KernelList atanh_kernels{"atanh",
                                         kFloatKernels<"atanh", Atanh, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
