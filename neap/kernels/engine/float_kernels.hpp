// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The list of an elementwise kernel over floats from one small type, Op:
//
//   struct Sqrt {
//     static PieceFunction piece(DType dtype) {  // the vector loops
//       return HWY_DYNAMIC_DISPATCH(sqrt_piece)(dtype);
//     }
//     template <class T>
//     T operator()(T x) const {  // one element: the reference
//       return std::sqrt(x);
//     }
//   };
//   constinit const KernelList sqrt_kernels{"sqrt",
//                                           kFloatKernels<"sqrt", Sqrt, 1>};
//
// where sqrt_piece, compiled once per instruction set, is
// float_piece<SqrtVector, 1> of elementwise-inl.hpp. An Op (and its vector
// twin) that has attributes says so: see make_op in elementwise.hpp.
#pragma once

#include <algorithm>
#include <array>

#include "neap/kernels/engine/scalar.hpp"

namespace neap::kernels {

/// Characters as a template argument.
template <std::size_t kSize>
struct Text {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is the argument
  consteval Text(const char (&text)[kSize]) { std::copy_n(text, kSize, chars); }
  char chars[kSize]{};
};

namespace detail {

template <Text kFirst, Text kSecond>
inline constexpr auto kJoined = [] {
  constexpr std::size_t kStart = sizeof(kFirst.chars) - 1;
  std::array<char, kStart + sizeof(kSecond.chars)> joined{};
  std::copy_n(kFirst.chars, kStart, joined.begin());
  std::copy_n(kSecond.chars, sizeof(kSecond.chars), joined.begin() + kStart);
  return joined;
}();

template <class Op>
PieceFunction piece_of(const Args& args) noexcept {
  return Op::piece(args.in[0].dtype);
}

template <class Op>
void run_pieces(const Args& args) noexcept {
  run_elementwise(args, piece_of<Op>(args));
}

template <Text kName, Text kSuffix>
constexpr Kernel named(DType dtype, void (*run)(const Args&) noexcept,
                       PieceFunction (*piece)(const Args&) noexcept = nullptr) {
  return {.name = kJoined<kName, kSuffix>.data(),
          .dtype = dtype,
          .run = run,
          .piece = piece};
}

/// By vectors.
template <Text kName, Text kSuffix, class Op>
constexpr Kernel by_pieces(DType dtype) {
  return named<kName, kSuffix>(dtype, run_pieces<Op>, piece_of<Op>);
}

/// By a loop over scalars, which is exact and plain.
template <Text kName, Text kSuffix, class Op, class T, std::size_t kInputs,
          class R = T>
constexpr Kernel by_scalars() {
  return scalar_entry<Op, T, kInputs, R>(kJoined<kName, kSuffix>.data());
}

}  // namespace detail

/// f32 and f64 by vectors, and their references.
template <Text kName, class Op, std::size_t kInputs>
inline constexpr std::array kFloatKernels{
    detail::by_pieces<kName, ".f32", Op>(f32),
    detail::by_pieces<kName, ".f64", Op>(f64),
    detail::named<kName, ".reference.f32">(f32, reference<Op, float, kInputs>),
    detail::named<kName, ".reference.f64">(f64, reference<Op, double, kInputs>),
};

/// The same, with i32 and i64 by loops over scalars, which are exact and plain.
template <Text kName, class Op, std::size_t kInputs>
inline constexpr std::array kSignedKernels{
    detail::by_pieces<kName, ".f32", Op>(f32),
    detail::by_pieces<kName, ".f64", Op>(f64),
    detail::by_scalars<kName, ".i32", Op, std::int32_t, kInputs>(),
    detail::by_scalars<kName, ".i64", Op, std::int64_t, kInputs>(),
    detail::named<kName, ".reference.f32">(f32, reference<Op, float, kInputs>),
    detail::named<kName, ".reference.f64">(f64, reference<Op, double, kInputs>),
};

}  // namespace neap::kernels
