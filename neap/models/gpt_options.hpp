// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The sizes of a Gpt, shared by its parts.
#pragma once

#include <cstdint>

#include "neap/base/api.hpp"
#include "neap/base/dtype.hpp"
#include "neap/ops/activation/activations.hpp"

namespace neap::models {

/// The values that a block keeps for backward. The others are recomputed there,
/// to the same bits.
enum class GptKeep : std::uint8_t {
  kEverything,  // but weights of attention, and gelu
  kProducts,    // nor the norms before attention and gelu, which are cheap
  kNothing,     // but the input
};

/// The norm in front of each block's parts, and of the last layer.
enum class GptNormalise : std::uint8_t {
  kLayerNorm,  // layer norm: a weight, and a bias where layers have one
  kRmsNorm,    // RMS norm: a weight
};

/// The encoding of a token's position.
enum class GptPositions : std::uint8_t {
  kLearned,  // "wpe", a row for each position, added to the token's
  kRotary,   // rotary_embedding of queries and keys
};

/// The layers between those of attention.
enum class GptFeedForward : std::uint8_t {
  kGelu,    // GptMlp
  kSwiglu,  // nn::SwiGlu, as wide as keeps the number of weights
};

/// The defaults are those of the smallest GPT-2.
struct GptOptions {
  std::int64_t vocab = 50257;  // tokens that there are
  std::int64_t block = 1024;   // tokens in a row, at most
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t dim = 768;  // must be a multiple of heads
  double dropout = 0.0;    // probability, in [0, 1)
  bool bias = true;        // true: linear layers and norms have one
  bool tie = true;         // lm_head.weight is wte.weight
  GeluForm gelu = GeluForm::kTanh;
  GptPositions positions = GptPositions::kLearned;
  GptFeedForward mlp = GptFeedForward::kGelu;
  GptNormalise norm = GptNormalise::kLayerNorm;
  double norm_eps = 1e-5;
  GptKeep keep = GptKeep::kProducts;
  DType dtype = f32;
  /// False: weights are left as they are allocated, for whoever reads them from
  /// a file.
  bool is_drawn = true;
  /// Weights of linear layers and of tokens are bf16, and frozen; all else, and
  /// what is computed, is f32. Of weights that are not drawn.
  bool has_half_weights = false;
};

/// THROWS: ValueError, DTypeError.
NEAP_API void check(const GptOptions& options);

}  // namespace neap::models
