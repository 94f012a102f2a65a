// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Layers of language models, with weights drawn or, for whoever reads them from
// a file, left as they are allocated. Of this room alone.
#pragma once

#include <optional>

#include "neap/models/gpt_options.hpp"
#include "neap/nn/embedding.hpp"
#include "neap/nn/linear.hpp"

namespace neap::models {

/// The sizes of a linear layer.
struct Sizes {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool has_bias = false;
};

/// The deviation of weights that are drawn.
inline constexpr double kDeviation = 0.02;

/// A layer whose weights, if drawn, are normal with kDeviation, and its bias 0.
/// THROWS: as nn::Linear.
nn::Linear linear_of(const Sizes& sizes, bool is_drawn, DType dtype,
                     const CallSite& site);
/// A table that is, if drawn, normal with kDeviation. THROWS: as nn::Embedding.
nn::Embedding embedding_of(std::int64_t rows, std::int64_t width, bool is_drawn,
                           DType dtype, const CallSite& site);

/// The dtype of a model's matrices.
template <class Options>
DType weights_dtype(const Options& options) noexcept {
  return options.has_half_weights ? bf16 : options.dtype;
}

/// THROWS: ValueError where matrices in bf16 are drawn; DTypeError where all
/// else is not f32.
void check_half_weights(const char* name, bool is_drawn, DType dtype);

/// A linear layer of a Gpt: if drawn, as nn::Linear draws it.
nn::Linear gpt_linear_of(const Sizes& sizes, const GptOptions& options,
                         const CallSite& site);

/// A copy of a part that a model may lack, for a copy of the model.
template <class Part>
std::optional<Part> copy_of(const std::optional<Part>& other,
                            nn::Cloning& cloning) {
  std::optional<Part> copy;
  if (other) {
    copy.emplace(*other, cloning);
  }
  return copy;
}

/// layer(gelu(x)), of which gelu(x) is not kept but computed again, unless the
/// layer has an adapter.
Tensor gelu_through(const nn::Linear& layer, const Tensor& x, GeluForm form);

/// THROWS: ShapeError, which begins with the model's name, unless tokens are
/// (b, t), t at most `block`.
void check_tokens(const char* name, const Tensor& tokens, std::int64_t block);
/// THROWS: ShapeError unless there is a target for each token.
void check_targets(const char* name, const Tensor& targets,
                   const Tensor& tokens);
/// The mean cross-entropy of scores (b, t, vocab) and targets (b, t).
Tensor mean_loss(const Tensor& scores, const Tensor& targets,
                 const CallSite& site);

}  // namespace neap::models
