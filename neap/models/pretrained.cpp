// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/pretrained.hpp"

#include <fmt/format.h>

#include "neap/base/shown.hpp"
#include "neap/formats/safetensors_folder.hpp"
#include "neap/memory/domain.hpp"

namespace neap::models {
namespace {

std::int64_t layers_of(const PretrainedConfig& config) noexcept {
  return std::visit([](const auto& o) { return o.layers; }, config);
}

double number(std::int64_t n) noexcept {
  return static_cast<double>(n);
}

double weights_at_least(const GptOptions& o) noexcept {
  return number(o.dim) *
         (number(o.vocab) + 12.0 * number(o.layers) * number(o.dim));
}

double weights_at_least(const LlamaOptions& o) noexcept {
  const double attention = 2.0 * number(o.heads) * number(o.width());
  return number(o.dim) *
         (number(o.vocab) +
          number(o.layers) * (attention + 3.0 * number(o.hidden)));
}

template <class Options>
double weights_of_layers(const Options& o) noexcept {
  return number(o.dim) * number(o.layers) *
         (4.0 * number(o.dim) + 2.0 * number(o.hidden));
}

double weights_at_least(const BertOptions& o) noexcept {
  return weights_of_layers(o) +
         number(o.dim) * (number(o.vocab) + number(o.block) + number(o.types));
}

double weights_at_least(const VitOptions& o) noexcept {
  return weights_of_layers(o) +
         number(o.dim) * (number(o.tokens()) +
                          number(o.channels) * number(o.patch * o.patch));
}

double weights_at_least(const ResNetOptions& o) noexcept {
  return 1000.0 * number(o.width) * number(o.width);
}

double least_weights(const PretrainedConfig& config) noexcept {
  return std::visit([](const auto& o) { return weights_at_least(o); }, config);
}

// Claims that the files cannot meet shall not cost the bookkeeping of layers,
// nor sizes that no sum holds. What is near is compared name by name.
Result<void> check_claims(const std::string& folder,
                          const PretrainedConfig& config,
                          const PretrainedOptions& options) {
  constexpr double kNear = 16.0;
  constexpr double kSmall = 1e6;
  auto files = formats::open_shards(
      options.door != nullptr ? *options.door : files::system_door(), folder,
      formats::Verify::kOff);
  if (!files) {
    return tl::make_unexpected(std::move(files.error()));
  }
  std::int64_t tensors = 0;
  double elements = 0.0;
  for (const formats::SafetensorsFile& file : *files) {
    tensors += static_cast<std::int64_t>(file.entries().size());
    for (const formats::SafetensorsEntry& entry : file.entries()) {
      elements += static_cast<double>(entry.shape.element_count());
    }
  }
  const double least = least_weights(config);
  if (layers_of(config) > tensors || least > kNear * elements + kSmall) {
    return failure(FailureKind::kMismatch,
                   fmt::format("{}: its config is of {} layers and {:.3g} "
                               "weights, its files have {} tensors of {:.3g}",
                               base::shown_path(folder), layers_of(config),
                               least, tensors, elements));
  }
  return {};
}

}  // namespace

bool is_language_model(const PretrainedConfig& config) noexcept {
  return std::holds_alternative<GptOptions>(config) ||
         std::holds_alternative<LlamaOptions>(config);
}

namespace {

// The model that options are of.
template <class Options>
struct ModelOf;
template <>
struct ModelOf<GptOptions> : std::type_identity<Gpt> {};
template <>
struct ModelOf<LlamaOptions> : std::type_identity<Llama> {};
template <>
struct ModelOf<BertOptions> : std::type_identity<Bert> {};
template <>
struct ModelOf<VitOptions> : std::type_identity<Vit> {};
template <>
struct ModelOf<ResNetOptions> : std::type_identity<ResNet> {};

}  // namespace

memory::Owned<nn::Layer> make_model(const PretrainedConfig& config,
                                    CallSite site) {
  return std::visit(
      [&]<class Options>(const Options& o) -> memory::Owned<nn::Layer> {
        using Model = typename ModelOf<Options>::type;
        return memory::make_owned<Model>(memory::Category::kGraph, o, site);
      },
      config);
}

std::int64_t block_of(const PretrainedConfig& config) noexcept {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.block; }) {
          return o.block;
        } else {
          return std::int64_t{0};
        }
      },
      config);
}

std::int64_t vocab_of(const PretrainedConfig& config) noexcept {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.vocab; }) {
          return o.vocab;
        } else {
          return std::int64_t{0};
        }
      },
      config);
}

namespace {

void rename(const GptOptions&, train::LoadOptions& load) {
  load.prefix = "transformer.";
  // The masks of attention, which are no weights.
  load.ignore = {"h.*.attn.bias", "h.*.attn.masked_bias"};
  load.transpose = {"h.*.attn.c_attn.weight", "h.*.attn.c_proj.weight",
                    "h.*.mlp.c_fc.weight", "h.*.mlp.c_proj.weight"};
}

void rename(const LlamaOptions&, train::LoadOptions& load) {
  // Files of the body alone do not begin with "model.".
  load.rename = {{"layers.**", "model.layers.**"},
                 {"embed_tokens.**", "model.embed_tokens.**"},
                 {"norm.**", "model.norm.**"}};
  load.ignore = {"model.layers.*.self_attn.rotary_emb.inv_freq"};
}

void rename(const BertOptions& o, train::LoadOptions& load) {
  constexpr const char* kNorms[] = {
      "bert.embeddings", "bert.encoder.layer.*.attention.output",
      "bert.encoder.layer.*.output", "cls.predictions.transform"};
  constexpr std::string_view kBody = "bert.";
  for (const std::string_view norm : kNorms) {
    // The first files have other names for the weights of a norm, and files of
    // the body alone do not begin with "bert.".
    for (const auto& [old, name] :
         {std::pair{"gamma", "weight"}, std::pair{"beta", "bias"}}) {
      const std::string to = fmt::format("{}.LayerNorm.{}", norm, name);
      load.rename.push_back({fmt::format("{}.LayerNorm.{}", norm, old), to});
      if (norm.starts_with(kBody)) {
        load.rename.push_back(
            {fmt::format("{}.LayerNorm.{}", norm.substr(kBody.size()), old),
             to});
      }
    }
  }
  for (const char* part : {"embeddings", "encoder", "pooler"}) {
    load.rename.push_back(
        {fmt::format("{}.**", part), fmt::format("bert.{}.**", part)});
  }
  load.ignore = {"bert.embeddings.position_ids", "cls.seq_relationship.**",
                 "cls.predictions.decoder.**"};
  if (o.head != BertHead::kClasses) {
    load.ignore.emplace_back("bert.pooler.**");
  }
  if (o.head != BertHead::kTokens) {
    load.ignore.emplace_back("cls.**");
  }
}

void rename(const VitOptions&, train::LoadOptions& load) {
  for (const char* part : {"embeddings", "encoder", "layernorm", "pooler"}) {
    load.rename.push_back(
        {fmt::format("{}.**", part), fmt::format("vit.{}.**", part)});
  }
  load.ignore = {"vit.pooler.**", "vit.embeddings.mask_token"};
}

void rename(const ResNetOptions&, train::LoadOptions&) {}

// The tensors of the head for classes, which a file may have in another shape.
using Patterns = std::vector<std::string>;

Patterns head_of(const BertOptions&) {
  return {"bert.pooler.**", "classifier.**"};
}
Patterns head_of(const VitOptions&) {
  return {"classifier.**"};
}
Patterns head_of(const ResNetOptions&) {
  return {"fc.**"};
}
template <class LanguageModel>
Patterns head_of(const LanguageModel&) {
  return {};
}

}  // namespace

train::LoadOptions weights_of(const PretrainedConfig& config,
                              const PretrainedOptions& options) {
  train::LoadOptions load{.verify = options.verify,
                          .door = options.door,
                          .convert = true,
                          .in_place = true};
  std::visit([&](const auto& o) { rename(o, load); }, config);
  if (options.classes > 0) {
    load.skip = std::visit([](const auto& o) { return head_of(o); }, config);
  }
  return load;
}

Result<void> check_weights(const std::string& folder,
                           const PretrainedConfig& config,
                           const PretrainedOptions& options) {
  if (auto good = check_claims(folder, config, options); !good) {
    return good;
  }
  // A domain for a model without elements.
  const auto domain =
      memory::Domain::create({.name = "sizes", .is_rehearsal = true});
  const memory::UseDomain use(*domain);
  train::LoadOptions load = weights_of(config, options);
  load.verify = formats::Verify::kOff;
  const memory::Owned<nn::Layer> model = make_model(config);
  return train::load(*model, folder, load).map([](auto&&) {});
}

Result<memory::Owned<nn::Layer>> from_pretrained(
    const std::string& folder, const PretrainedOptions& options,
    CallSite site) {
  const auto config = read_config(folder, options);
  if (!config) {
    return tl::make_unexpected(config.error());
  }
  if (auto good = check_weights(folder, *config, options); !good) {
    return tl::make_unexpected(std::move(good.error()));
  }
  memory::Owned<nn::Layer> model = make_model(*config, site);
  auto loaded = train::load(*model, folder, weights_of(*config, options), site);
  if (!loaded) {
    return tl::make_unexpected(std::move(loaded.error()));
  }
  model->eval();
  return model;
}

}  // namespace neap::models
