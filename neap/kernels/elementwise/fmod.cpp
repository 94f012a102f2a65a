// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/fmod.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/fmod.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// For any quotient: the standard library's long division.
template <class D, class V>
HWY_NOINLINE V fmod_by_lanes(D d, V a, V b) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T rest[hn::MaxLanes(d)];
  HWY_ALIGN T by[hn::MaxLanes(d)];
  hn::Store(a, d, rest);
  hn::Store(b, d, by);
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) {
    rest[k] = std::fmod(rest[k], by[k]);
  }
  return hn::Load(d, rest);
}

// With q = trunc(a / b), a - q b is a multiple of b's last place and at most
// |b|, so that a fused multiply-add has it exactly, even where the rounded
// quotient came to the next whole number.
template <class D, class V>
HWY_INLINE V fmod_of(D d, V a, V b) {
#if HWY_NATIVE_FMA
  const V quotient = hn::Div(a, b);
  const V limit = constant(d, sizeof(hn::TFromD<D>) == 4 ? 0x1p22 : 0x1p51);
  if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(quotient), limit)))) {
    const V rest = hn::NegMulAdd(hn::Trunc(quotient), b, a);
    const auto is_beyond =
        hn::Lt(hn::Mul(hn::CopySign(constant(d, 1), a), rest), hn::Zero(d));
    const V back = hn::Add(rest, hn::CopySign(b, a));
    const V inside = hn::CopySign(hn::IfThenElse(is_beyond, back, rest), a);
    return hn::IfThenElse(hn::Lt(hn::Abs(a), hn::Abs(b)), a, inside);
  }
#endif
  return fmod_by_lanes(d, a, b);
}

struct FmodVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return fmod_of(d, a, b);
  }
};

struct RemainderVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V zero = hn::Zero(d);
    const V rest = fmod_of(d, a, b);
    const auto is_other_sign = hn::Xor(hn::Lt(b, zero), hn::Lt(rest, zero));
    return hn::IfThenElse(hn::And(hn::Ne(rest, zero), is_other_sign),
                          hn::Add(rest, b), rest);
  }
};

}  // namespace

PieceFunction fmod_piece(DType dtype) {
  return float_piece<FmodVector, 2>(dtype);
}

PieceFunction remainder_piece(DType dtype) {
  return float_piece<RemainderVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(fmod_piece);

struct Fmod {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(fmod_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
};

HWY_EXPORT(remainder_piece);

struct Remainder {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(remainder_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    const T rest = std::fmod(a, b);
    return rest != T(0) && (b < T(0)) != (rest < T(0)) ? rest + b : rest;
  }
};

}  // namespace

constinit const KernelList fmod_kernels{"fmod", kFloatKernels<"fmod", Fmod, 2>};
constinit const KernelList remainder_kernels{
    "remainder", kFloatKernels<"remainder", Remainder, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
