// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/causal_attention.hpp"

#include "neap/models/parts.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/sequence/attention.hpp"
#include "neap/ops/sequence/rotary_embedding.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {

CausalAttention::CausalAttention(const GptOptions& options, CallSite site)
    : heads_((check(options), options.heads)),
      dropout_(options.dropout),
      turns_(options.positions == GptPositions::kRotary),
      c_attn_(gpt_linear_of({options.dim, 3 * options.dim, options.bias},
                            options, site)),
      c_proj_(gpt_linear_of({options.dim, options.dim, options.bias}, options,
                            site)) {
  name_parts();
}

CausalAttention::CausalAttention(const CausalAttention& other,
                                 nn::Cloning& cloning)
    : Cloneable(other, cloning),
      heads_(other.heads_),
      dropout_(other.dropout_),
      turns_(other.turns_),
      c_attn_(other.c_attn_, cloning),
      c_proj_(other.c_proj_, cloning) {
  name_parts();
}

void CausalAttention::name_parts() {
  register_module("c_attn", c_attn_);
  register_module("c_proj", c_proj_);
}

void CausalAttention::each_linear(LinearVisit visit) {
  visit(c_attn_);
  visit(c_proj_);
}

Tensor CausalAttention::forward(const Tensor& x) const {
  return attend(c_attn_(x));
}

Tensor CausalAttention::after(const GptNorm& norm, const Tensor& x,
                              CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = attend(norm.then(c_attn_, x));
  scope.note(y, x);
  return y;
}

Tensor CausalAttention::decode(const Tensor& x, KvPass& pass,
                               CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = attend(c_attn_(x), &pass);
  scope.note(y, x);
  return y;
}

// Queries, keys and values side by side, (b, t, 3 dim).
Tensor CausalAttention::attend(const Tensor& projected, KvPass* pass) const {
  const std::int64_t b = projected.shape()[0];
  const std::int64_t t = projected.shape()[1];
  const std::int64_t dim = projected.shape()[2] / 3;
  // Views: which of the three, then (b, heads, t, width).
  const Tensor qkv = reshape(projected, {b, t, 3, heads_, dim / heads_});
  const auto part = [&qkv](std::int64_t which) {
    return permute(select(qkv, 2, which), {0, 2, 1, 3});
  };
  const auto placed = [&](std::int64_t which) {
    if (!turns_) {
      return part(which);
    }
    return pass != nullptr ? pass->turned(part(which), {})
                           : rotary_embedding(part(which));
  };
  Tensor y =
      pass != nullptr
          ? pass->attend(placed(0), placed(1), part(2), {})
          : scaled_dot_product_attention(
                placed(0), placed(1), part(2),
                {.is_causal = true, .dropout = is_training() ? dropout_ : 0.0});
  y = c_proj_(reshape(transpose(y, 1, 2), {b, t, dim}));
  return dropout(std::move(y), dropout_, is_training());
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::CausalAttention>;
}  // namespace neap::nn
