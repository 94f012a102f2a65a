// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/gpt.hpp"

#include <cmath>

#include "neap/autograd/rematerialise.hpp"
#include "neap/base/raise.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
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
}

namespace {

Tensor for_parameter(const Shape& shape, DType dtype, const CallSite& site) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kParameters; });
  return empty(shape, dtype, site);
}

std::optional<nn::Embedding> places_of(const GptOptions& o,
                                       const CallSite& site) {
  if (o.positions != GptPositions::kLearned) {
    return std::nullopt;
  }
  return std::optional<nn::Embedding>(std::in_place, o.block, o.dim,
                                      std::nullopt, o.dtype, site);
}

std::optional<nn::Embedding> places_of(
    const std::optional<nn::Embedding>& other, nn::Cloning& cloning) {
  return other ? std::optional<nn::Embedding>(std::in_place, *other, cloning)
               : std::nullopt;
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
                     : GptHead(options.vocab, options.dim, options.dtype, site);
}

}  // namespace

GptHead::GptHead(std::int64_t vocab, std::int64_t dim, DType dtype,
                 CallSite site)
    : weight_(register_parameter(
          "weight", for_parameter({vocab, dim}, dtype, site), site)) {}

GptHead::GptHead(const Tensor& home, CallSite site) : weight_(home) {
  registry().add_entry("weight", home, true, site, true);
}

GptHead::GptHead(const GptHead& other, nn::Cloning& cloning)
    : Cloneable(other, cloning), weight_(parameter("weight")) {}

Tensor GptHead::forward(const Tensor& x) const {
  return linear(x, weight_);
}

Gpt::Gpt(const GptOptions& options, CallSite site)
    : options_((check(options), options)),
      wte_(options.vocab, options.dim, std::nullopt, options.dtype, site),
      wpe_(places_of(options, site)),
      h_(blocks_of(options, site)),
      ln_f_(options, site),
      lm_head_(head_of(options, wte_.weight(), site)) {
  name_parts();
  initialise(site);
}

Gpt::Gpt(const Gpt& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      options_(other.options_),
      wte_(other.wte_, cloning),
      wpe_(places_of(other.wpe_, cloning)),
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
  constexpr double kDeviation = 0.02;
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

Tensor Gpt::forward(const Tensor& tokens) const {
  if (tokens.rank() != 2 || tokens.shape()[1] > options_.block) {
    raise<ShapeError>("gpt: tokens {}, expected (b, t) with t at most {}",
                      format_shape(tokens.shape()), options_.block);
  }
  Tensor x = wte_(tokens);
  if (wpe_) {
    x = std::move(x) + narrow(wpe_->weight(), 0, 0, tokens.shape()[1]);
  }
  x = dropout(std::move(x), options_.dropout, is_training());
  return lm_head_(ln_f_(through_blocks(std::move(x))));
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
  if (targets.shape() != tokens.shape()) {
    raise<ShapeError>("gpt: targets {} for tokens {}",
                      format_shape(targets.shape()),
                      format_shape(tokens.shape()));
  }
  const Tensor scores = (*this)(tokens, site);
  return cross_entropy(Operand(reshape(scores, {-1, options_.vocab}), site),
                       reshape(targets, {-1}));
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::GptHead>;
template class Cloneable<models::Gpt>;
}  // namespace neap::nn
