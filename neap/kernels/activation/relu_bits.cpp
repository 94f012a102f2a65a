// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/relu_bits.hpp"

#include <array>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/engine/bits.hpp"
#include "neap/kernels/engine/elementwise.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/relu_bits.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/bits-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// kIsLeaky: the slope is not 0.
template <class T, bool kIsLeaky>
struct Forward {
  template <class D, class V>
  HWY_INLINE V map(D d, V x) const {
    if constexpr (kIsLeaky) {
      return hn::IfThenElse(test(d, x), x, hn::Mul(x, hn::Set(d, slope)));
    } else {
      return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);
    }
  }
  template <class D, class V>
  HWY_INLINE auto test(D d, V x) const {
    if constexpr (kIsLeaky) {
      return hn::Gt(x, hn::Zero(d));
    } else {
      return hn::Not(hn::Le(x, hn::Zero(d)));
    }
  }
  T slope;
};

template <class T, bool kIsLeaky>
struct Backward {
  template <class D, class V, class M>
  HWY_INLINE V operator()(D d, V g, M is_positive) const {
    if constexpr (kIsLeaky) {
      return hn::IfThenElse(is_positive, g, hn::Mul(g, hn::Set(d, slope)));
    } else {
      return hn::IfThenElseZero(is_positive, g);
    }
  }
  T slope;
};

template <class T, bool kIsLeaky>
void forward(const BitsPiece& piece) noexcept {
  const auto& attrs = *static_cast<const SlopeAttrs*>(piece.attrs);
  write_bits<T>(Forward<T, kIsLeaky>{static_cast<T>(attrs.slope)}, piece);
}

template <class T, bool kIsLeaky>
void backward(const BitsPiece& piece) noexcept {
  const auto& attrs = *static_cast<const SlopeAttrs*>(piece.attrs);
  read_bits<T>(Backward<T, kIsLeaky>{static_cast<T>(attrs.slope)}, piece);
}

// The same as parts of a fused call: x, y, bits and g, bits, dx.
template <class T, bool kIsLeaky>
void forward_part(const Piece& piece) noexcept {
  forward<T, kIsLeaky>({piece.data[0], piece.data[1], piece.at<std::uint8_t>(2),
                        piece.count, piece.attrs});
}

template <class T, bool kIsLeaky>
void backward_part(const Piece& piece) noexcept {
  backward<T, kIsLeaky>({piece.data[0], piece.data[2],
                         piece.at<std::uint8_t>(1), piece.count, piece.attrs});
}

}  // namespace

PieceFunction relu_bits_part(DType dtype, bool is_leaky) {
  if (dtype == f32) {
    return is_leaky ? forward_part<float, true> : forward_part<float, false>;
  }
  return is_leaky ? forward_part<double, true> : forward_part<double, false>;
}

PieceFunction relu_grad_part(DType dtype, bool is_leaky) {
  if (dtype == f32) {
    return is_leaky ? backward_part<float, true> : backward_part<float, false>;
  }
  return is_leaky ? backward_part<double, true> : backward_part<double, false>;
}

BitsFunction relu_bits_piece(DType dtype, bool is_leaky) {
  if (dtype == f32) {
    return is_leaky ? forward<float, true> : forward<float, false>;
  }
  return is_leaky ? forward<double, true> : forward<double, false>;
}

BitsFunction relu_grad_piece(DType dtype, bool is_leaky) {
  if (dtype == f32) {
    return is_leaky ? backward<float, true> : backward<float, false>;
  }
  return is_leaky ? backward<double, true> : backward<double, false>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(relu_bits_piece);
HWY_EXPORT(relu_grad_piece);
HWY_EXPORT(relu_bits_part);
HWY_EXPORT(relu_grad_part);

bool is_leaky(const Args& args) noexcept {
  return args.attrs_as<SlopeAttrs>().slope != 0.0;
}

void relu_bits(const Args& args) noexcept {
  run_with_bits(
      args, BitsUse::kWrites,
      HWY_DYNAMIC_DISPATCH(relu_bits_piece)(args.in[0].dtype, is_leaky(args)));
}

void relu_grad(const Args& args) noexcept {
  run_with_bits(
      args, BitsUse::kReads,
      HWY_DYNAMIC_DISPATCH(relu_grad_piece)(args.in[0].dtype, is_leaky(args)));
}

PieceFunction part_of_bits(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(relu_bits_part)(args.in[0].dtype, is_leaky(args));
}

PieceFunction part_of_grad(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(relu_grad_part)(args.in[0].dtype, is_leaky(args));
}

template <class T>
void relu_bits_reference(const Args& args) noexcept {
  const auto slope = static_cast<T>(args.attrs_as<SlopeAttrs>().slope);
  const std::int64_t count = args.out[0].shape.element_count();
  for (std::int64_t i = 0; i < bit_bytes(count); ++i) {
    element<std::uint8_t>(args.out[1], i) = 0;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const T x = element<T>(args.in[0], i);
    const T below = is_leaky(args) ? x * slope : (x <= T(0) ? T(0) : x);
    element<T>(args.out[0], i) = x > T(0) ? x : below;
    std::uint8_t& byte = element<std::uint8_t>(args.out[1], i / 8);
    const bool is_set = is_leaky(args) ? x > T(0) : !(x <= T(0));
    byte = static_cast<std::uint8_t>(byte | (is_set ? 1U << i % 8 : 0U));
  }
}

template <class T>
void relu_grad_reference(const Args& args) noexcept {
  const auto slope = static_cast<T>(args.attrs_as<SlopeAttrs>().slope);
  for (std::int64_t i = 0; i < args.out[0].shape.element_count(); ++i) {
    const T g = element<T>(args.in[0], i);
    const unsigned byte = element<std::uint8_t>(args.in[1], i / 8);
    const T below = is_leaky(args) ? g * slope : T(0);
    element<T>(args.out[0], i) = (byte >> i % 8 & 1U) != 0 ? g : below;
  }
}

constexpr std::array kForward = float_rows<"relu_bits">(
    {.run = relu_bits, .piece = part_of_bits}, {relu_bits_reference<float>},
    {relu_bits_reference<double>});

constexpr std::array kBackward = float_rows<"relu_grad">(
    {.run = relu_grad, .piece = part_of_grad}, {relu_grad_reference<float>},
    {relu_grad_reference<double>});

}  // namespace

constinit const KernelList relu_bits_kernels{"relu_bits", kForward};
constinit const KernelList relu_grad_kernels{"relu_grad", kBackward};

}  // namespace neap::kernels
#endif  // HWY_ONCE
