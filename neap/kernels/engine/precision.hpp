// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The precision with which a product of f32 tensors is computed.
#pragma once

#include <array>
#include <cstdint>

#include "neap/base/api.hpp"

namespace neap::kernels {

/// The format to which the factors of a product of f32 tensors are rounded
/// before they are multiplied. Sums are f32 always. f64 is not concerned.
enum class Precision : std::uint8_t {
  kF32,   // factors stay f32
  kBf16,  // factors rounded to the nearest bfloat16 (gemm.hpp)
};

/// "f32", "bf16".
NEAP_API const char* name_of(Precision precision) noexcept;

/// True where the processor, the operating system and the instruction set that
/// is allowed (NEAP_ISA) have dot products of bf16: AVX512_BF16.
NEAP_API bool has_bf16_dot() noexcept;

/// Attributes of an op that is a product and has no others. A call without
/// attributes is in kF32.
struct ProductAttrs {
  Precision precision = Precision::kF32;
  std::array<std::uint8_t, 7> padding{};
};

/// Precision in the ProductAttrs that `attrs` (Args::attrs) points to.
inline Precision precision_of(const void* attrs) noexcept {
  return attrs != nullptr ? static_cast<const ProductAttrs*>(attrs)->precision
                          : Precision::kF32;
}

}  // namespace neap::kernels
