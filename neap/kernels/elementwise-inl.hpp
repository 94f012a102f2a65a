// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Vector loops for elementwise kernels, compiled once per instruction set.
// A full vector and the tail run the same code: the tail on padded copies.
#if defined(NEAP_KERNELS_ELEMENTWISE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_ELEMENTWISE_INL_HPP_
#undef NEAP_KERNELS_ELEMENTWISE_INL_HPP_
#else
#define NEAP_KERNELS_ELEMENTWISE_INL_HPP_
#endif

#include <cstring>
#include <utility>

#include "hwy/highway.h"
#include "neap/kernels/elementwise.hpp"

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

template <class Op, class T, std::size_t... k>
HWY_INLINE void map_vectors(const Piece& piece, std::index_sequence<k...>) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t kInputs = sizeof...(k);
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(piece.count);
  const T* const in[] = {piece.at<const T>(static_cast<int>(k))...};
  T* const out = piece.at<T>(static_cast<int>(kInputs));
  const Op op;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(op(d, hn::LoadU(d, in[k] + i)...), d, out + i);
  }
  if (i < count) {
    const std::size_t bytes = (count - i) * sizeof(T);
    HWY_ALIGN T padded[kInputs][hn::MaxLanes(d)] = {};
    HWY_ALIGN T result[hn::MaxLanes(d)];
    (std::memcpy(padded[k], in[k] + i, bytes), ...);
    hn::Store(op(d, hn::Load(d, padded[k])...), d, result);
    std::memcpy(out + i, result, bytes);
  }
}

template <class Op, class T, std::size_t kInputs>
void map_piece(const Piece& piece) noexcept {
  map_vectors<Op, T>(piece, std::make_index_sequence<kInputs>());
}

/// The loop for f32 or f64. Op is called as op(d, v...) with one vector for
/// each input, and returns one.
template <class Op, std::size_t kInputs>
HWY_MAYBE_UNUSED PieceFunction float_piece(DType dtype) {
  return dtype == f32 ? map_piece<Op, float, kInputs>
                      : map_piece<Op, double, kInputs>;
}

// `in` are read, `out` read and written.
template <class Op, class T, std::size_t... i, std::size_t... o>
HWY_INLINE void update_vectors(const Piece& piece, std::index_sequence<i...>,
                               std::index_sequence<o...>) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kInputs = sizeof...(i);
  constexpr std::size_t kAll = kInputs + sizeof...(o);
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(piece.count);
  const Op op(piece);  // its constants stay in registers
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    V out[] = {
        hn::LoadU(d, piece.at<T>(static_cast<int>(kInputs + o)) + at)...};
    op(d, hn::LoadU(d, piece.at<const T>(static_cast<int>(i)) + at)...,
       out[o]...);
    (hn::StoreU(out[o], d, piece.at<T>(static_cast<int>(kInputs + o)) + at),
     ...);
  }
  if (at < count) {
    const std::size_t bytes = (count - at) * sizeof(T);
    HWY_ALIGN T padded[kAll][hn::MaxLanes(d)] = {};
    (std::memcpy(padded[i], piece.at<const T>(static_cast<int>(i)) + at, bytes),
     ...);
    (std::memcpy(padded[kInputs + o],
                 piece.at<T>(static_cast<int>(kInputs + o)) + at, bytes),
     ...);
    V out[] = {hn::Load(d, padded[kInputs + o])...};
    op(d, hn::Load(d, padded[i])..., out[o]...);
    (hn::Store(out[o], d, padded[kInputs + o]), ...);
    (std::memcpy(piece.at<T>(static_cast<int>(kInputs + o)) + at,
                 padded[kInputs + o], bytes),
     ...);
  }
}

template <class Op, class T, std::size_t kInputs, std::size_t kOutputs>
void update_piece(const Piece& piece) noexcept {
  update_vectors<Op, T>(piece, std::make_index_sequence<kInputs>(),
                        std::make_index_sequence<kOutputs>());
}

/// As float_piece, for updates in place. Op<T> is made from the piece (its
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
