// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The list of a kernel over floats whose functions are written out: one that
// serves f32 and f64, and a reference for each.
//
//   constinit const KernelList adam_kernels{
//       "adam", kFloatList<"adam", adam, adam_reference<float>,
//                          adam_reference<double>>};
#pragma once

#include "neap/kernels/engine/float_kernels.hpp"

namespace neap::kernels {

using RunFunction = void (*)(const Args&) noexcept;
using PieceOf = PieceFunction (*)(const Args&) noexcept;

template <Text kName, RunFunction kRun, RunFunction kReferenceF32,
          RunFunction kReferenceF64, PieceOf kPiece = nullptr>
inline constexpr std::array kFloatList{
    detail::named<kName, ".f32">(f32, kRun, kPiece),
    detail::named<kName, ".f64">(f64, kRun, kPiece),
    detail::named<kName, ".reference.f32">(f32, kReferenceF32),
    detail::named<kName, ".reference.f64">(f64, kReferenceF64),
};

}  // namespace neap::kernels
