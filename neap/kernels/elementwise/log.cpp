// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/log.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/log.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/pow-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct LogVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return log_of(d, x);
  }
};

PieceFunction log_piece(DType dtype) {
  return float_piece<LogVector, 1>(dtype);
}

struct Log10Vector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return log10_of(d, x);
  }
};

PieceFunction log10_piece(DType dtype) {
  return float_piece<Log10Vector, 1>(dtype);
}

struct Log1pVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return log1p_of(d, x);
  }
};

PieceFunction log1p_piece(DType dtype) {
  return float_piece<Log1pVector, 1>(dtype);
}

struct Log2Vector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return log2_of(d, x);
  }
};

PieceFunction log2_piece(DType dtype) {
  return float_piece<Log2Vector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(log_piece);

struct Log {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(log_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::log(x);
  }
};

HWY_EXPORT(log10_piece);

struct Log10 {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(log10_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::log10(x);
  }
};

HWY_EXPORT(log1p_piece);

struct Log1p {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(log1p_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::log1p(x);
  }
};

HWY_EXPORT(log2_piece);

struct Log2 {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(log2_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::log2(x);
  }
};

}  // namespace

constinit const KernelList log_kernels{"log", kFloatKernels<"log", Log, 1>};
constinit const KernelList log10_kernels{"log10",
                                         kFloatKernels<"log10", Log10, 1>};
constinit const KernelList log1p_kernels{"log1p",
                                         kFloatKernels<"log1p", Log1p, 1>};
constinit const KernelList log2_kernels{"log2", kFloatKernels<"log2", Log2, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
