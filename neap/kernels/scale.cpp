// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/scale.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/attrs.hpp"
#include "neap/kernels/float_list.hpp"
#include "neap/kernels/strides.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/scale.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

template <class T>
struct ScaleVector {
  explicit ScaleVector(const Piece& piece)
      : factor(static_cast<T>(piece.attrs_as<ScaleAttrs>().factor)) {}

  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x) const {
    x = hn::Mul(x, hn::Set(d, factor));
  }

  T factor;
};

PieceFunction scale_piece(DType dtype) {
  return float_update<ScaleVector, 0, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(scale_piece);

void scale(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(scale_piece)(args.out[0].dtype),
                  OutputUse::kUpdates);
}

template <class T>
void scale_reference(const Args& args) noexcept {
  const Strided& x = args.out[0];
  const T factor = static_cast<T>(args.attrs_as<ScaleAttrs>().factor);
  for (std::int64_t i = 0; i < x.shape.element_count(); ++i) {
    x.as<T>()[offset_at(x.shape, x.strides, i)] *= factor;
  }
}

}  // namespace

constinit const KernelList scale_kernels{
    "scale", kFloatList<"scale", scale, scale_reference<float>,
                        scale_reference<double>>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
