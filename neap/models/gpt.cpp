// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/gpt.hpp"

#include <cmath>

#include "neap/autograd/rematerialise.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/models/parts.hpp"
#include "neap/nn/for_parameter.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {

using base::raise;

void check(const GptOptions& o) {
  if (o.vocab < 1 || o.block < 1 || o.layers < 1 || o.heads < 1 || o.dim < 1 ||
      o.dim % o.heads != 0) {
    raise<ValueError>(
        "gpt: vocab {}, block {}, layers {}, heads {}, dim {}: expected sizes "
        "of at least 1, and heads that divide dim",
        o.vocab, o.block, o.layers, o.heads, o.dim);
  }
  if (o.positions == GptPositions::kRotary && o.dim / o.heads % 2 != 0) {
    raise<ValueError>("gpt: heads of {}, expected an even width to rotate",
                      o.dim / o.heads);
  }
  if (!(o.dropout >= 0.0 && o.dropout < 1.0)) {
    raise<ValueError>("gpt: dropout is {}, expected 0 <= p < 1", o.dropout);
  }
  if (o.dtype != f32 && o.dtype != f64) {
    raise<DTypeError>("gpt: computes in f32 and f64, not in {}",
                      name_of(o.dtype));
  }
  if (o.has_half_weights) {
    check_half_weights("gpt", o.is_drawn, o.dtype);
  }
  if (o.has_half_weights && o.mlp != GptFeedForward::kGelu) {
    raise<ValueError>("gpt: weights in bf16 where mlp is no GptMlp");
  }
}

namespace {

nn::Embedding table_of(std::int64_t rows, const GptOptions& o, DType dtype,
                       const CallSite& site) {
  return o.is_drawn ? nn::Embedding(rows, o.dim, std::nullopt, dtype, site)
                    : nn::Embedding(
                          nn::for_parameter({rows, o.dim}, dtype, site), site);
}

std::optional<nn::Embedding> places_of(const GptOptions& o,
                                       const CallSite& site) {
  if (o.positions != GptPositions::kLearned) {
    return std::nullopt;
  }
  return table_of(o.block, o, o.dtype, site);  // added as it is
}

nn::Sequential blocks_of(const GptOptions& options, const CallSite& site) {
  nn::Sequential blocks;
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks.push(GptBlock(options, site));
  }
  return blocks;
}

GptHead head_of(const GptOptions& options, const Tensor& home,
                const CallSite& site) {
  return options.tie ? GptHead(home, site)
                     : GptHead(options.vocab, options.dim,
                               weights_dtype(options), site);
}

}  // namespace

GptHead::GptHead(std::int64_t vocab, std::int64_t dim, DType dtype,
                 CallSite site)
    : weight_(register_parameter(
          "weight", nn::for_parameter({vocab, dim}, dtype, site), site)) {
  freeze_half();
}

GptHead::GptHead(const Tensor& home, CallSite site) : weight_(home) {
  registry().add_entry("weight", home, true, site, true);
  freeze_half();  // which a new name of it has thawed
}

void GptHead::freeze_half() {
  if (weight_.dtype() == bf16) {
    requires_grad_(weight_, false);
  }
}

GptHead::GptHead(const GptHead& other, nn::Cloning& cloning)
    : Cloneable(other, cloning), weight_(parameter("weight")) {}

Tensor GptHead::forward(const Tensor& x) const {
  return linear(x, weight_);
}

Gpt::Gpt(const GptOptions& options, CallSite site)
    : options_((check(options), options)),
      wte_(table_of(options.vocab, options, weights_dtype(options), site)),
      wpe_(places_of(options, site)),
      h_(blocks_of(options, site)),
      ln_f_(options, site),
      lm_head_(head_of(options, wte_.weight(), site)) {
  name_parts();
  if (options.is_drawn) {
    initialise(site);
  }
}

Gpt::Gpt(const Gpt& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      options_(other.options_),
      wte_(other.wte_, cloning),
      wpe_(copy_of(other.wpe_, cloning)),
      h_(other.h_, cloning),
      ln_f_(other.ln_f_, cloning),
      lm_head_(other.lm_head_, cloning) {
  name_parts();
}

void Gpt::name_parts() {
  register_module("wte", wte_);
  if (wpe_) {
    register_module("wpe", *wpe_);
  }
  register_module("h", h_);
  register_module("ln_f", ln_f_);
  register_module("lm_head", lm_head_);
}

void Gpt::initialise(const CallSite& site) {
  const double onto_sum =
      kDeviation / std::sqrt(2.0 * static_cast<double>(options_.layers));
  for (const nn::Parameter& parameter : parameters()) {
    const std::string_view name = parameter.name;
    if (name.ends_with("c_proj.weight") || name.ends_with("w2.weight")) {
      nn::normal_(parameter.tensor, 0.0, onto_sum, site);
    } else if (parameter.tensor.rank() == 2) {
      nn::normal_(parameter.tensor, 0.0, kDeviation, site);
    } else if (name.ends_with(".bias")) {
      nn::constant_(parameter.tensor, 0.0, site);
    }
  }
}

void Gpt::each_linear(LinearVisit visit) {
  for (std::int64_t i = 0; i < h_.size(); ++i) {
    static_cast<GptBlock&>(h_[i]).each_linear(visit);
  }
}

Tensor Gpt::forward(const Tensor& tokens) const {
  check_tokens("gpt", tokens, options_.block);
  Tensor x = wte_(tokens);
  if (wpe_) {
    x = std::move(x) + narrow(wpe_->weight(), 0, 0, tokens.shape()[1]);
  }
  x = dropout(std::move(x), options_.dropout, is_training());
  return lm_head_(ln_f_(through_blocks(std::move(x))));
}

Tensor Gpt::decode(const Tensor& tokens, KvPass& pass, CallSite site) const {
  check_tokens("gpt", tokens, options_.block);
  const nn::ModuleScope scope(*this, site);
  Tensor x = wte_(tokens);
  if (wpe_) {
    x = std::move(x) + pass.rows_of(wpe_->weight(), tokens.shape()[1]);
  }
  for (std::int64_t i = 0; i < h_.size(); ++i) {
    x = static_cast<const GptBlock&>(h_[i]).decode(x, pass);
  }
  Tensor scores = lm_head_(ln_f_(pass.last_of(x)));
  scope.note(scores, tokens);
  return scores;
}

Tensor Gpt::through_blocks(Tensor x) const {
  if (options_.keep != GptKeep::kNothing) {
    return h_(x);  // the blocks see to it
  }
  for (std::int64_t i = 0; i < h_.size(); ++i) {
    nn::Layer& block = h_[i];
    x = rematerialise([&block](const Tensor& in) { return block(in); })(x);
  }
  return x;
}

Tensor Gpt::loss(const Tensor& tokens, const Tensor& targets,
                 CallSite site) const {
  check_targets("gpt", targets, tokens);
  return mean_loss((*this)(tokens, site), targets, site);
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::GptHead>;
template class Cloneable<models::Gpt>;
}  // namespace neap::nn
