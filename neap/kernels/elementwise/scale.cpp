// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/scale.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/scale.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

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

double factor_of(const Args& args) noexcept {
  return *args.in[0].as<double>();
}

void scale(const Args& args) noexcept {
  const ScaleAttrs attrs{.factor = factor_of(args)};
  if (attrs.factor == 1.0) {
    return;
  }
  Args updates = args;
  updates.in = {};
  updates.attrs = &attrs;
  run_elementwise(updates, HWY_DYNAMIC_DISPATCH(scale_piece)(args.out[0].dtype),
                  OutputUse::kUpdates);
}

template <class T>
void multiply_all(const Strided& x, T factor) noexcept {
  for (std::int64_t i = 0; i < x.shape.element_count(); ++i) {
    x.as<T>()[offset_at(x.shape, x.strides, i)] *= factor;
  }
}

void scale_reference(const Args& args) noexcept {
  const Strided& x = args.out[0];
  if (x.dtype == f32) {
    multiply_all(x, static_cast<float>(factor_of(args)));
  } else {
    multiply_all(x, factor_of(args));
  }
}

constexpr std::array kKernels =
    float_rows<"scale">({scale}, {scale_reference}, {scale_reference});

}  // namespace

constinit const KernelList scale_kernels{"scale", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
