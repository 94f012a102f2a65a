// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The rows of a kernel whose functions are written out, a row a dtype:
//
//   constexpr std::array kRows = float_rows<"adam">(
//       {.run = adam}, {adam_reference<float>}, {adam_reference<double>});
//   constinit const KernelList adam_kernels{"adam", kRows};
#pragma once

#include "neap/kernels/engine/float_kernels.hpp"

namespace neap::kernels {

/// A row but for its name and dtype (see Kernel).
struct KernelFunctions {
  void (*run)(const Args&) noexcept;
  bool (*accepts)(const Args&) noexcept = nullptr;
  Bytes (*scratch)(const Args&) noexcept = nullptr;
  PieceFunction (*piece)(const Args&) noexcept = nullptr;
};

namespace detail {

template <Text kName, Text kSuffix>
constexpr Kernel row(DType dtype, const KernelFunctions& functions) {
  return {.name = kJoined<kName, kSuffix>.data(),
          .dtype = dtype,
          .run = functions.run,
          .accepts = functions.accepts,
          .scratch = functions.scratch,
          .piece = functions.piece};
}

}  // namespace detail

/// Rows for f32 and f64, and their references behind them.
template <Text kName>
constexpr std::array<Kernel, 4> float_rows(
    const KernelFunctions& fast_f32, const KernelFunctions& fast_f64,
    const KernelFunctions& reference_f32,
    const KernelFunctions& reference_f64) {
  return {detail::row<kName, ".f32">(f32, fast_f32),
          detail::row<kName, ".f64">(f64, fast_f64),
          detail::row<kName, ".reference.f32">(f32, reference_f32),
          detail::row<kName, ".reference.f64">(f64, reference_f64)};
}

/// The same, where one function serves f32 and f64.
template <Text kName>
constexpr std::array<Kernel, 4> float_rows(
    const KernelFunctions& fast, const KernelFunctions& reference_f32,
    const KernelFunctions& reference_f64) {
  return float_rows<kName>(fast, fast, reference_f32, reference_f64);
}

/// Rows for every dtype, which one function serves.
template <Text kName>
constexpr std::array<Kernel, 7> rows_of_every_dtype(
    const KernelFunctions& functions) {
  return {detail::row<kName, ".f32">(f32, functions),
          detail::row<kName, ".f64">(f64, functions),
          detail::row<kName, ".bf16">(bf16, functions),
          detail::row<kName, ".i32">(i32, functions),
          detail::row<kName, ".i64">(i64, functions),
          detail::row<kName, ".u8">(u8, functions),
          detail::row<kName, ".bool">(boolean, functions)};
}

}  // namespace neap::kernels
