// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/optim/ema.hpp"

#include <array>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/optim/ema.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

template <class T>
struct EmaVector {
  explicit EmaVector(const Piece& piece)
      : fresh(static_cast<T>(1.0 - piece.attrs_as<EmaAttrs>().decay)) {}

  template <class D, class V>
  HWY_INLINE void operator()(D d, V value, V& average) const {
    const V change = hn::Sub(value, average);
    average = hn::MulAdd(hn::Set(d, fresh), change, average);
  }

  T fresh;  // weight of the value
};

PieceFunction ema_piece(DType dtype) {
  return float_update<EmaVector, 1, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(ema_piece);

PieceFunction piece(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(ema_piece)(args.out[0].dtype);
}

void ema(const Args& args) noexcept {
  run_elementwise(args, piece(args), OutputUse::kUpdates);
}

template <class T>
void ema_reference(const Args& args) noexcept {
  const auto fresh = static_cast<T>(1.0 - args.attrs_as<EmaAttrs>().decay);
  for (std::int64_t i = 0; i < args.out[0].shape.element_count(); ++i) {
    T& average = element<T>(args.out[0], i);
    average += fresh * (element<T>(args.in[0], i) - average);
  }
}

constexpr std::array kKernels =
    float_rows<"ema">({.run = ema, .piece = piece}, {ema_reference<float>},
                      {ema_reference<double>});

}  // namespace

constinit const KernelList ema_kernels{"ema", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
