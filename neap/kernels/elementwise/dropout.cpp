// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/dropout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/dropout.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/dropout-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void dropout_piece_of(const Piece& piece) noexcept {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto& attrs = piece.attrs_as<DropoutAttrs>();
  const T* x = piece.at<const T>(0);
  T* y = piece.at<T>(1);
  const T keep = static_cast<T>(1.0 - attrs.p);
  const std::uint32_t threshold = keep_threshold(attrs.p);
  // Branches on random bits would be mispredicted: the choice is a mask.
  for_each_word(
      attrs.key, attrs.first + piece.first, piece.count,
      [&](std::int64_t i, std::uint32_t word) HWY_ATTR {
        const Bits mask = word >> 8U >= threshold ? ~Bits{0} : Bits{0};
        y[i] = std::bit_cast<T>(std::bit_cast<Bits>(x[i] / keep) & mask);
      });
}

}  // namespace

PieceFunction dropout_piece(DType dtype) {
  return dtype == f32 ? dropout_piece_of<float> : dropout_piece_of<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(dropout_piece);

PieceFunction piece_of(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(dropout_piece)(args.out[0].dtype);
}

void dropout(const Args& args) noexcept {
  run_elementwise(args, piece_of(args), OutputUse::kWrites);
}

template <class T>
void dropout_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<DropoutAttrs>();
  const Strided& y = args.out[0];
  const Shape strides = broadcast_strides(args.in[0], y.shape);
  for (std::int64_t i = 0; i < y.shape.element_count(); ++i) {
    const T x = args.in[0].as<T>()[offset_at(y.shape, strides, i)];
    const float u = base::uniform_f32(
        attrs.key.word(static_cast<std::uint64_t>(attrs.first + i)));
    y.as<T>()[offset_at(y.shape, y.strides, i)] =
        static_cast<double>(u) >= attrs.p ? x / static_cast<T>(1.0 - attrs.p)
                                          : T(0);
  }
}

constexpr std::array kKernels = float_rows<"dropout">(
    {.run = dropout, .piece = piece_of}, {dropout_reference<float>},
    {dropout_reference<double>});

}  // namespace

constinit const KernelList dropout_kernels{"dropout", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
