// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Models of Hugging Face's folders: config.json says which one it is,
// model.safetensors (or an index of shards) has its weights.
//
//   auto model = models::from_pretrained("SmolLM-135M").value();
//   Tensor scores = (*model)(tokens);  // (b, t) to (b, t, vocab)
//
// model_type may be "llama", "mistral", "qwen2" (all of them a Llama here),
// "gpt2" (a Gpt), "bert" (a Bert) or "vit" (a Vit); timm's folders name an
// architecture instead, "resnet18" and the like (a ResNet). What a config asks
// for and these have not is said at once, before any weight is read:
// docs/pretrained.md has the list.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "neap/files/door.hpp"
#include "neap/models/bert.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/llama.hpp"
#include "neap/models/resnet.hpp"
#include "neap/models/vit.hpp"
#include "neap/train/save.hpp"

namespace neap::models {

struct PretrainedOptions {
  /// Weights are converted to it as they are read.
  DType dtype = f32;
  /// True: matrices of linear layers and of tokens that the files have in BF16
  /// stay so, frozen, and all else is f32: the same bits in about half of the
  /// memory. Of a Gpt or a Llama whose files have all matrices in BF16, or none
  /// in BF16 or F16, which changes nothing.
  bool keep_half = false;
  /// Probability instead of the config's.
  std::optional<double> dropout{};
  /// > 0: the most tokens in a row; no more than the config has.
  std::int64_t block = 0;
  /// > 0: a classifier of so many classes on top of a Bert, a Vit or a ResNet.
  /// It is read where the file has one of that many, else drawn.
  std::int64_t classes = 0;
  /// False: layers run again in backward, which then keeps only their inputs.
  bool keep_layers = true;
  /// Members of config.json that are not known here and may be passed over.
  std::vector<std::string> pass{};
  formats::Verify verify = formats::Verify::kOn;
  files::Door* door = nullptr;  // null: the system's
};

/// The options of the model that a folder's config.json describes.
using PretrainedConfig = std::variant<GptOptions, LlamaOptions, BertOptions,
                                      VitOptions, ResNetOptions>;

/// Reads FOLDER/config.json. Failures: those of the file; kCorrupt for what is
/// no JSON object; kTooLarge beyond 1 MiB; kUnsupported, in one line, for all
/// that is not implemented, by name. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API Result<PretrainedConfig> read_config(
    const std::string& folder, const PretrainedOptions& options = {});

/// The tokens that end a text: eos_token_id of FOLDER/generation_config.json
/// or, where that has none or is not there, of config.json; in order, none
/// where neither says. Failures: as read_config, but for what is not
/// implemented.
[[nodiscard]] NEAP_API Result<std::vector<std::int64_t>> read_stop_tokens(
    const std::string& folder, const PretrainedOptions& options = {});

/// The names of a classifier's classes, by id2label of FOLDER/config.json: in
/// the order of their numbers, none where it does not say. Failures: as
/// read_stop_tokens.
[[nodiscard]] NEAP_API Result<std::vector<std::string>> read_class_names(
    const std::string& folder, const PretrainedOptions& options = {});

/// Whether it is a Gpt or a Llama, which score what follows each token:
/// forward() maps tokens (b, t) to scores (b, t, vocab).
NEAP_API bool is_language_model(const PretrainedConfig& config) noexcept;

/// A model of such options. THROWS: as the model.
NEAP_API memory::Owned<nn::Layer> make_model(const PretrainedConfig& config,
                                             CallSite site = CallSite::here());

/// The tokens in a row, at most, and the tokens that there are; 0 of models
/// of images.
NEAP_API std::int64_t block_of(const PretrainedConfig& config) noexcept;
NEAP_API std::int64_t vocab_of(const PretrainedConfig& config) noexcept;

/// How the tensors of a folder become those of its model.
NEAP_API train::LoadOptions weights_of(const PretrainedConfig& config,
                                       const PretrainedOptions& options = {});

/// Checks, without a model's memory, that the folder's files have the tensors
/// of a model of these options: names, shapes, dtypes. Failures: as neap::load.
[[nodiscard]] NEAP_API Result<void> check_weights(
    const std::string& folder, const PretrainedConfig& config,
    const PretrainedOptions& options = {});

/// The model of a folder, with its weights, in evaluation mode. Each tensor is
/// read straight to where it stays. Failures: as read_config and neap::load.
/// THROWS: OutOfMemory.
[[nodiscard]] NEAP_API Result<memory::Owned<nn::Layer>> from_pretrained(
    const std::string& folder, const PretrainedOptions& options = {},
    CallSite site = CallSite::here());

}  // namespace neap::models
