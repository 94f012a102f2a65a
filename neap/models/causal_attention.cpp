// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/causal_attention.hpp"

#include <cmath>

#include "neap/ops/causal_softmax.hpp"
#include "neap/ops/dropout.hpp"
#include "neap/ops/matmul.hpp"
#include "neap/ops/narrow.hpp"
#include "neap/ops/permute.hpp"
#include "neap/ops/reshape.hpp"
#include "neap/ops/transpose.hpp"

namespace neap::models {

CausalAttention::CausalAttention(const GptOptions& options, CallSite site)
    : heads_((check(options), options.heads)),
      dropout_(options.dropout),
      c_attn_(options.dim, 3 * options.dim, options.bias, options.dtype, site),
      c_proj_(options.dim, options.dim, options.bias, options.dtype, site) {
  name_parts();
}

CausalAttention::CausalAttention(const CausalAttention& other,
                                 nn::Cloning& cloning)
    : Cloneable(other, cloning),
      heads_(other.heads_),
      dropout_(other.dropout_),
      c_attn_(other.c_attn_, cloning),
      c_proj_(other.c_proj_, cloning) {
  name_parts();
}

void CausalAttention::name_parts() {
  add("c_attn", c_attn_);
  add("c_proj", c_proj_);
}

Tensor CausalAttention::forward(const Tensor& x) {
  const std::int64_t b = x.shape()[0];
  const std::int64_t t = x.shape()[1];
  const std::int64_t width = x.shape()[2] / heads_;
  // Views of one product: which of the three, then (b, heads, t, width).
  const Tensor qkv = reshape(c_attn_(x), {b, t, 3, heads_, width});
  const auto part = [&qkv](std::int64_t which, const Shape& order) {
    return permute(select(qkv, 2, which), order);
  };
  Tensor weights = causal_softmax(
      matmul(part(0, {0, 2, 1, 3}), part(1, {0, 2, 3, 1})),
      1.0 / std::sqrt(static_cast<double>(width)));  // (b, heads, t, t)
  weights = dropout(std::move(weights), dropout_, is_training());
  Tensor y = matmul(weights, part(2, {0, 2, 1, 3}));
  y = c_proj_(reshape(transpose(y, 1, 2), x.shape()));
  return dropout(std::move(y), dropout_, is_training());
}

}  // namespace neap::models
