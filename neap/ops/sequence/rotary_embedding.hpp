// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// The choice of elements that make a pair.
enum class RotaryPairs : std::uint8_t {
  kHalves,       // j and d / 2 + j: GPT-NeoX, LLaMA as Hugging Face has it
  kInterleaved,  // 2 j and 2 j + 1: RoFormer, LLaMA as Meta has it
};

/// Other rates than base^(-2 j / d), by which a model sees more positions than
/// it was trained on.
enum class RotaryScaling : std::uint8_t {
  kNone,
  kLinear,       // every rate divided by factor (arXiv 2306.15595)
  kRamp,         // pairs up to `low` as they are, from `high` on divided;
                 // between them evenly more of it (YaRN, arXiv 2309.00071)
  kWavelengths,  // wavelengths up to `high` as they are, from `low` on divided;
                 // between them by 1 / wavelength (Llama 3.1)
};

/// The options of rotary_embedding.
struct RotaryOptions {
  double base = 10000.0;
  RotaryPairs pairs = RotaryPairs::kHalves;
  std::int64_t first = 0;  // position of the first row
  Tensor positions{};      // (t) i64, instead of first, first + 1, ..
  RotaryScaling scaling = RotaryScaling::kNone;
  double factor = 1.0;  // of a scaling; above 0
  double low = 0.0;     // a pair's number; or a wavelength in positions
  double high = 0.0;    // above low; or a wavelength below it
};

namespace ops {
NEAP_API extern const graph::Op kRotaryEmbedding;
}  // namespace ops

/// x (..., t, d) with pair j of each row rotated by the angle p base^(-2 j /
/// d), or by the scaling's rate, p the row's position, so that products of two
/// rows depend on the distance of their positions alone (Su et al., "RoFormer",
/// arXiv 2104.09864); f32, f64. The derivative turns back. Keeps nothing but
/// given positions. THROWS: ShapeError below rank 2, for an odd d, and unless
/// there is a position a row; DTypeError; ValueError unless base and the
/// scaling's factor are finite and above 0, and its limits as they are
/// described.
NEAP_API Tensor rotary_embedding(const Operand& x,
                                 const RotaryOptions& options = {});

}  // namespace neap
