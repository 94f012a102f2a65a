// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// config.json as options of a Gpt.
#include <fmt/format.h>

#include "neap/models/config_forms.hpp"

namespace neap::models {
namespace {

constexpr std::string_view kDropouts[] = {"resid_pdrop", "embd_pdrop",
                                          "attn_pdrop"};

// Gpt has one probability for all of its places.
double read_dropouts(JsonConfig& config, const PretrainedOptions& options) {
  const double probability = read_dropout(config, "resid_pdrop", 0.1, options);
  for (const std::string_view key : kDropouts) {
    if (!options.dropout && config.real(key, 0.1) != probability) {
      config.complain(
          fmt::format("{} is not resid_pdrop, say one for all", key));
    }
    config.pass(key);
  }
  return probability;
}

}  // namespace

GptOptions read_gpt(JsonConfig& config, const PretrainedOptions& options) {
  GptOptions o;
  check_architecture(config, "GPT2LMHeadModel");
  o.vocab = config.number("vocab_size", 50257);
  o.block = config.number("n_positions", 1024);
  o.layers = config.number("n_layer", 12);
  o.heads = config.number("n_head", 12);
  o.dim = config.number("n_embd", 768);
  o.norm_eps = config.real("layer_norm_epsilon", 1e-5);
  if (o.dim % o.heads != 0 || !(o.norm_eps >= 0.0)) {
    config.complain(
        fmt::format("{} heads do not divide n_embd, {}", o.heads, o.dim));
  }
  if (const auto inner = config.number("n_inner", 4 * o.dim);
      inner != 4 * o.dim) {
    config.complain(fmt::format("n_inner is {}, 4 n_embd = {} is implemented",
                                inner, 4 * o.dim));
  }
  o.gelu = read_gelu(config, "activation_function", "gelu_new");
  o.tie = config.boolean("tie_word_embeddings", true);
  expect_choice(config, "scale_attn_weights", true);
  expect_choice(config, "scale_attn_by_inverse_layer_idx", false);
  expect_choice(config, "add_cross_attention", false);
  o.dropout = read_dropouts(config, options);
  check_block(config, options, o.block);
  o.keep = options.keep_layers ? GptKeep::kProducts : GptKeep::kNothing;
  o.dtype = options.dtype;
  o.is_drawn = false;
  return o;
}

}  // namespace neap::models
