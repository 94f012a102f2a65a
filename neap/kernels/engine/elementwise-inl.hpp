// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Vector loops for elementwise kernels, compiled once per instruction set.
// A full vector and the tail run the same code: the tail on padded vectors.
#if defined(NEAP_KERNELS_ELEMENTWISE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_ELEMENTWISE_INL_HPP_
#undef NEAP_KERNELS_ELEMENTWISE_INL_HPP_
#else
#define NEAP_KERNELS_ELEMENTWISE_INL_HPP_
#endif

#include <cstring>
#include <utility>

#include "hwy/highway.h"
#include "neap/kernels/engine/elementwise.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// A vector of the same number.
template <class D>
HWY_INLINE hn::Vec<D> constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

/// Whether Op says `static constexpr bool kIsLight = true`: a few instructions,
/// so that the loop may handle several vectors at once.
template <class Op>
constexpr bool is_light() {
  if constexpr (requires { Op::kIsLight; }) {
    return Op::kIsLight;
  } else {
    return false;
  }
}

/// Whether a masked load or store touches nothing that is masked: SSE4 loads
/// and stores whole vectors (aligned ones), and so does NEON.
inline constexpr bool kMasksAreExact =
    HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_SCALAR;

/// The first elements of a vector, the others 0: never reads beyond `count`.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_some(D d, const T* from, std::size_t count) {
  if constexpr (sizeof(T) >= 4 && kMasksAreExact) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN T padded[hn::MaxLanes(d)] = {};
    std::memcpy(padded, from, count * sizeof(T));
    return hn::Load(d, padded);
  }
}

template <class D, class V, class T>
HWY_INLINE void store_some(D d, V v, T* to, std::size_t count) {
  if constexpr (sizeof(T) >= 4 && kMasksAreExact) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, to);
  } else {
    HWY_ALIGN T padded[hn::MaxLanes(d)];
    hn::Store(v, d, padded);
    std::memcpy(to, padded, count * sizeof(T));
  }
}

template <class Op, class D, class... In>
HWY_INLINE hn::Vec<D> map_vector(const Op& op, D d, std::size_t at,
                                 const In*... in) {
  return op(d, hn::LoadU(d, in + at)...);
}

// All loads go before the first store: a store delays a later load that has the
// same low 12 bits in its address.
template <class Op, class D, class T, std::size_t... k, class... In>
HWY_INLINE void map_group(const Op& op, D d, std::size_t at, T* out,
                          std::index_sequence<k...>, const In*... in) {
  const std::size_t lanes = hn::Lanes(d);
  const hn::Vec<D> v[] = {map_vector(op, d, at + k * lanes, in...)...};
  (hn::StoreU(v[k], d, out + at + k * lanes), ...);
}

/// out[i] = op(in[i]...) for plain arrays; out may be one of them.
template <class Op, class T, class... In>
HWY_INLINE void map_arrays(const Op& op, std::int64_t size, T* out,
                           const In*... in) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(size);
  std::size_t i = 0;
  if constexpr (is_light<Op>()) {
    constexpr std::size_t kGroup = 4;
    for (; i + kGroup * lanes <= count; i += kGroup * lanes) {
      map_group(op, d, i, out, std::make_index_sequence<kGroup>(), in...);
    }
  }
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(map_vector(op, d, i, in...), d, out + i);
  }
  if (i < count) {
    store_some(d, op(d, load_some(d, in + i, count - i)...), out + i,
               count - i);
  }
}

template <class Op, class T, std::size_t... k>
HWY_INLINE void map_operands(const Piece& piece, std::index_sequence<k...>) {
  map_arrays(make_op<Op>(piece.attrs), piece.count,
             piece.at<T>(static_cast<int>(sizeof...(k))),
             piece.at<const T>(static_cast<int>(k))...);
}

template <class Op, class T, std::size_t kInputs>
void map_piece(const Piece& piece) noexcept {
  map_operands<Op, T>(piece, std::make_index_sequence<kInputs>());
}

/// The loop for f32 or f64. Op is made by make_op, called as op(d, v...) with
/// one vector for each input, and returns one.
template <class Op, std::size_t kInputs>
HWY_MAYBE_UNUSED PieceFunction float_piece(DType dtype) {
  return dtype == f32 ? map_piece<Op, float, kInputs>
                      : map_piece<Op, double, kInputs>;
}

// Inputs i are read, outputs o read and written.
template <class Op, class T, std::size_t... i, std::size_t... o>
HWY_INLINE void update_operands(const Piece& piece, std::index_sequence<i...>,
                                std::index_sequence<o...>) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(piece.count);
  [[maybe_unused]] const T* const in[] = {
      piece.at<const T>(static_cast<int>(i))..., nullptr};
  T* const out[] = {piece.at<T>(static_cast<int>(sizeof...(i) + o))...};
  const Op op(piece);  // its constants stay in registers
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    V v[] = {hn::LoadU(d, out[o] + at)...};
    op(d, hn::LoadU(d, in[i] + at)..., v[o]...);
    (hn::StoreU(v[o], d, out[o] + at), ...);
  }
  if (at < count) {
    const std::size_t rest = count - at;
    V v[] = {load_some(d, out[o] + at, rest)...};
    op(d, load_some(d, in[i] + at, rest)..., v[o]...);
    (store_some(d, v[o], out[o] + at, rest), ...);
  }
}

template <class Op, class T, std::size_t kInputs, std::size_t kOutputs>
void update_piece(const Piece& piece) noexcept {
  update_operands<Op, T>(piece, std::make_index_sequence<kInputs>(),
                         std::make_index_sequence<kOutputs>());
}

/// Like float_piece, for updates in place. Op<T> is made from the piece (its
/// attributes) and called as op(d, inputs..., outputs&...).
template <template <class> class Op, std::size_t kInputs, std::size_t kOutputs>
HWY_MAYBE_UNUSED PieceFunction float_update(DType dtype) {
  return dtype == f32 ? update_piece<Op<float>, float, kInputs, kOutputs>
                      : update_piece<Op<double>, double, kInputs, kOutputs>;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
