// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/rounding.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/rounding.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

// A zero has the sign of x, which Highway's emulation forgets.
struct CeilVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::CopySign(hn::Ceil(x), x);
  }
};

PieceFunction ceil_piece(DType dtype) {
  return float_piece<CeilVector, 1>(dtype);
}

struct FloorVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::CopySign(hn::Floor(x), x);
  }
};

PieceFunction floor_piece(DType dtype) {
  return float_piece<FloorVector, 1>(dtype);
}

struct RoundVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::CopySign(hn::Round(x), x);
  }
};

PieceFunction round_piece(DType dtype) {
  return float_piece<RoundVector, 1>(dtype);
}

struct TruncVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::CopySign(hn::Trunc(x), x);
  }
};

PieceFunction trunc_piece(DType dtype) {
  return float_piece<TruncVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(ceil_piece);

struct Ceil {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(ceil_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};

HWY_EXPORT(floor_piece);

struct Floor {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(floor_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};

HWY_EXPORT(round_piece);

struct Round {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(round_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::nearbyint(x);
  }
};

HWY_EXPORT(trunc_piece);

struct Trunc {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(trunc_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::trunc(x);
  }
};

}  // namespace

constinit const KernelList ceil_kernels{"ceil", kFloatKernels<"ceil", Ceil, 1>};
constinit const KernelList floor_kernels{"floor",
                                         kFloatKernels<"floor", Floor, 1>};
constinit const KernelList round_kernels{"round",
                                         kFloatKernels<"round", Round, 1>};
constinit const KernelList trunc_kernels{"trunc",
                                         kFloatKernels<"trunc", Trunc, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
