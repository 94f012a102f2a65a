// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What the parts of a Gpt share: its sizes.
#pragma once

#include <cstdint>

#include "neap/base/api.hpp"
#include "neap/base/dtype.hpp"
#include "neap/ops/gelu.hpp"

namespace neap::models {

/// What each block keeps for the backward. Whatever it does not keep it
/// computes again there, to the same bits.
enum class GptKeep : std::uint8_t {
  kEverything,
  kProducts,  // of matrices, and what goes in: the rest is cheap
  kNothing,   // but what goes in
};

/// The defaults are those of the smallest GPT-2.
struct GptOptions {
  std::int64_t vocab = 50257;  // tokens that there are
  std::int64_t block = 1024;   // tokens in a row, at most
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t dim = 768;  // a multiple of heads
  double dropout = 0.0;    // probability, in [0, 1)
  bool bias = true;        // of linear layers and norms
  bool tie = true;         // lm_head.weight is wte.weight
  GeluForm gelu = GeluForm::kTanh;
  GptKeep keep = GptKeep::kEverything;
  DType dtype = f32;
};

/// THROWS: ValueError, DTypeError.
NEAP_API void check(const GptOptions& options);

}  // namespace neap::models
