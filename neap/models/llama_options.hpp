// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The sizes and variants of a Llama, shared by its parts.
#pragma once

#include <cstdint>

#include "neap/base/api.hpp"
#include "neap/base/dtype.hpp"
#include "neap/ops/sequence/rotary_embedding.hpp"

namespace neap::models {

/// The encoding of positions, by which queries and keys are rotated.
struct LlamaRope {
  double base = 10000.0;
  RotaryScaling scaling = RotaryScaling::kNone;
  double factor = 1.0;  // these three as RotaryOptions has them
  double low = 0.0;
  double high = 0.0;
  /// Queries and keys are longer by this factor (YaRN's temperature).
  double stretch = 1.0;
  /// > 0: a row of t tokens, where t is more than this, has a larger base
  /// ("dynamic" scaling): base (factor t / trained - factor + 1)^(d / (d - 2)).
  std::int64_t trained = 0;
};

/// The defaults are those of TinyLlama, of 1.1 billion parameters.
struct LlamaOptions {
  std::int64_t vocab = 32000;  // tokens that there are
  std::int64_t block = 2048;   // tokens in a row, at most
  std::int64_t layers = 22;
  std::int64_t heads = 32;    // of queries
  std::int64_t kv_heads = 4;  // of keys and values; divides heads
  std::int64_t dim = 2048;
  std::int64_t head_dim = 0;   // an even number; 0: dim / heads
  std::int64_t hidden = 5632;  // width between the linear layers of mlp
  double norm_eps = 1e-5;
  LlamaRope rope{};
  bool qkv_bias = false;  // true: q_proj, k_proj, v_proj have one (Qwen2)
  bool out_bias = false;  // o_proj has one
  bool mlp_bias = false;
  bool tie = false;  // lm_head.weight is model.embed_tokens.weight
  /// > 0: a token sees itself and the window - 1 before it (Mistral), in the
  /// layers from window_from on.
  std::int64_t window = 0;
  std::int64_t window_from = 0;
  double dropout = 0.0;  // of weights of attention; in [0, 1)
  /// False: layers run again in backward, which then keeps only their inputs.
  bool keep_layers = true;
  DType dtype = f32;
  /// False: weights are left as they are allocated, for whoever reads them from
  /// a file.
  bool is_drawn = true;
  /// Weights of linear layers and of tokens are bf16, and frozen; all else, and
  /// what is computed, is f32. Of weights that are not drawn.
  bool has_half_weights = false;

  std::int64_t width() const noexcept {  // of a head
    return head_dim > 0 ? head_dim : dim / heads;
  }
};

/// THROWS: ValueError, DTypeError.
NEAP_API void check(const LlamaOptions& options);

}  // namespace neap::models
