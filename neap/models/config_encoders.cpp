// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// config.json as options of a Bert or a Vit.
#include <fmt/format.h>

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/models/config_forms.hpp"

namespace neap::models {
namespace {

struct Architecture {
  std::string_view name;
  BertHead head;
};
constexpr Architecture kBerts[] = {
    {"BertModel", BertHead::kNone},
    {"BertForMaskedLM", BertHead::kTokens},
    {"BertForPreTraining", BertHead::kTokens},
    {"BertForSequenceClassification", BertHead::kClasses}};

// Members of a Bert's config that change nothing here.
constexpr std::string_view kOfNoAccount[] = {
    "classifier_dropout",        "directionality",       "pooler_fc_size",
    "pooler_num_fc_layers",      "pooler_size_per_head", "pooler_type",
    "pooler_num_attention_heads"};

// The head that the file's weights have; without a word of it, that for tokens.
BertHead read_head(JsonConfig& config) {
  BertHead head = BertHead::kTokens;
  config.strings("architectures", [&](std::string_view name) {
    const auto* const found =
        std::ranges::find(kBerts, name, &Architecture::name);
    if (found != std::end(kBerts)) {
      head = found->head;
    } else {
      config.complain(fmt::format(
          "architectures has {}; BertModel, BertForMaskedLM, "
          "BertForPreTraining and BertForSequenceClassification are "
          "implemented",
          base::shown(name)));
    }
  });
  return head;
}

// Members that both forms have under the same names.
template <class Options>
void read_sizes(JsonConfig& config, const PretrainedOptions& from,
                Options& to) {
  to.layers = config.number("num_hidden_layers", 12);
  to.heads = config.number("num_attention_heads", 12);
  to.dim = config.number("hidden_size", 768);
  to.hidden = config.number("intermediate_size", 3072);
  to.norm_eps = config.real("layer_norm_eps", 1e-12);
  to.gelu = read_gelu(config, "hidden_act", "gelu");
  if (to.dim % to.heads != 0 || !(to.norm_eps >= 0.0)) {
    config.complain(fmt::format("{} heads do not divide hidden_size, {}",
                                to.heads, to.dim));
  }
  to.keep_layers = from.keep_layers;
  to.dtype = from.dtype;
  to.is_drawn = false;
  to.draws_classes = from.classes > 0;
}

}  // namespace

BertOptions read_bert(JsonConfig& config, const PretrainedOptions& options) {
  BertOptions o;
  read_sizes(config, options, o);
  o.vocab = config.number("vocab_size", 30522);
  o.block = config.number("max_position_embeddings", 512);
  o.types = config.number("type_vocab_size", 2);
  o.head = read_head(config);
  if (options.classes > 0) {
    o.head = BertHead::kClasses;
  }
  o.classes = read_classes(config, options);
  o.padding = config.number("pad_token_id", 0, 0);
  if (*o.padding >= o.vocab) {
    config.complain(
        fmt::format("pad_token_id {} of {} tokens", *o.padding, o.vocab));
  }
  o.dropout = read_dropout(config, "hidden_dropout_prob", 0.1, options);
  o.attention_dropout =
      read_dropout(config, "attention_probs_dropout_prob", 0.1, options);
  o.head_dropout =
      config.has("classifier_dropout")
          ? read_dropout(config, "classifier_dropout", 0.1, options)
          : o.dropout;
  if (const std::string kind =
          config.text("position_embedding_type", "absolute");
      kind != "absolute") {
    config.complain(
        fmt::format("position_embedding_type is {}, absolute is implemented",
                    base::shown(kind)));
  }
  expect_choice(config, "tie_word_embeddings", true);
  check_block(config, options, o.block);
  for (const std::string_view key : kOfNoAccount) {
    config.pass(key);
  }
  return o;
}

VitOptions read_vit(JsonConfig& config, const PretrainedOptions& options) {
  VitOptions o;
  read_sizes(config, options, o);
  o.image = config.number("image_size", 224);
  o.patch = config.number("patch_size", 16);
  o.channels = config.number("num_channels", 3);
  if (o.image % o.patch != 0) {
    config.complain(fmt::format("patches of {} do not divide images of {}",
                                o.patch, o.image));
  }
  o.qkv_bias = config.boolean("qkv_bias", true);
  o.classes = read_classes(config, options);
  config.strings("architectures", [&](std::string_view name) {
    if (name == "ViTModel") {
      o.classes = options.classes;
    } else if (name != "ViTForImageClassification") {
      config.complain(fmt::format(
          "architectures has {}; ViTModel and ViTForImageClassification are "
          "implemented",
          base::shown(name)));
    }
  });
  o.dropout = read_dropout(config, "hidden_dropout_prob", 0.0, options);
  o.attention_dropout =
      read_dropout(config, "attention_probs_dropout_prob", 0.0, options);
  for (const std::string_view key :
       {"encoder_stride", "pooler_act", "pooler_output_size"}) {
    config.pass(key);
  }
  return o;
}

}  // namespace neap::models
