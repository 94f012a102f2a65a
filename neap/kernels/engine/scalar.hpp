// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Loops over scalars: `scalar_piece` for the elementwise engine (integers,
// comparisons), and `reference`, which needs no engine at all: it walks the
// strides element by element, and says plainly what a kernel computes.
#pragma once

#include <type_traits>
#include <utility>

#include "neap/kernels/engine/elementwise.hpp"
#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {
namespace detail {

template <class Op, class T, class R, std::size_t... k>
void scalar_loop(const Piece& piece, std::index_sequence<k...>) noexcept {
  const T* const in[] = {piece.at<const T>(static_cast<int>(k))...};
  R* const out = piece.at<R>(static_cast<int>(sizeof...(k)));
  const Op op = make_op<Op>(piece.attrs);
  for (std::int64_t i = 0; i < piece.count; ++i) {
    out[i] = op(in[k][i]...);
  }
}

template <class Op, class T, class R, std::size_t... k>
void reference_loop(const Args& args, std::index_sequence<k...>) noexcept {
  const Strided& out = args.out[0];
  const Shape strides[] = {broadcast_strides(args.in[k], out.shape)...};
  const Op op = make_op<Op>(args.attrs);
  const std::int64_t count = out.shape.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    out.as<R>()[offset_at(out.shape, out.strides, i)] =
        op(args.in[k].template as<T>()[offset_at(out.shape, strides[k], i)]...);
  }
}

}  // namespace detail

/// out = op(in...) with inputs of type T and an output of type R.
template <class Op, class T, std::size_t kInputs, class R = T>
void scalar_piece(const Piece& piece) noexcept {
  detail::scalar_loop<Op, T, R>(piece, std::make_index_sequence<kInputs>());
}

/// The readable last entry of a list.
template <class Op, class T, std::size_t kInputs, class R = T>
void reference(const Args& args) noexcept {
  detail::reference_loop<Op, T, R>(args, std::make_index_sequence<kInputs>());
}

/// A whole kernel: the elementwise engine with scalar_piece.
template <class Op, class T, std::size_t kInputs, class R = T>
void scalar_kernel(const Args& args) noexcept {
  run_elementwise(args, scalar_piece<Op, T, kInputs, R>);
}

/// Its Kernel::piece.
template <class Op, class T, std::size_t kInputs, class R = T>
PieceFunction scalar_piece_of(const Args&) noexcept {
  return scalar_piece<Op, T, kInputs, R>;
}

/// The kernel as an entry of a list. REQUIRES: `name` lives as long.
template <class Op, class T, std::size_t kInputs, class R = T>
constexpr Kernel scalar_entry(const char* name) noexcept {
  return {.name = name,
          .dtype = dtype_of<T>,
          .run = scalar_kernel<Op, T, kInputs, R>,
          .piece = scalar_piece_of<Op, T, kInputs, R>};
}

/// Integer arithmetic wraps: it is done on the unsigned type.
template <class T>
constexpr auto to_wrapping(T x) noexcept {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(x);
  } else {
    return x;
  }
}

}  // namespace neap::kernels
