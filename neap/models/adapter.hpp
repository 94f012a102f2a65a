// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Low-rank adapters of language models (Hu et al., "LoRA", arXiv 2106.09685):
// added to linear layers by their names, trained while all else is frozen, kept
// in the files of the peft package, and merged into the weights on request.
//
//   auto model = models::from_pretrained("SmolLM-135M").value();
//   models::add_adapter(*model, {.lora = {.rank = 8}});
//   optim::AdamW optimizer(models::trainable(*model));
//   ...
//   models::save_adapter(*model, {.lora = {.rank = 8}}, "my-adapter").value();
//
//   FOLDER/adapter_config.json          rank, alpha, dropout, names of layers
//   FOLDER/adapter_model.safetensors    base_model.model.model.layers.0.
//                                       self_attn.q_proj.lora_A.weight, ...
#pragma once

#include <string>
#include <vector>

#include "neap/files/door.hpp"
#include "neap/models/linear_visit.hpp"
#include "neap/nn/layer.hpp"

namespace neap::models {

struct AdapterOptions {
  nn::LoraOptions lora{};
  /// The layers whose names end so: "q_proj", "mlp.c_proj". Empty: every linear
  /// layer but the head.
  std::vector<std::string> targets{};
  /// Modules that are trained and kept as a whole, without an adapter: the new
  /// head, "classifier". Their names from the model on.
  std::vector<std::string> whole{};
};

/// Calls visit(layer) for the linear layers of a Gpt or a Llama. THROWS:
/// ValueError for another model.
NEAP_API void each_linear(nn::Layer& model, LinearVisit visit);

/// Freezes the model but for what is trained whole, and adds an adapter to each
/// layer that is meant. RETURNS: how many there are. THROWS: ValueError where a
/// target names no layer, or a module that is trained whole is not there, and
/// as nn::Linear::adapt.
NEAP_API std::int64_t add_adapter(nn::Layer& model,
                                  const AdapterOptions& options,
                                  CallSite site = CallSite::here());

/// The parameters that get gradients.
NEAP_API nn::ParameterList trainable(const nn::Module& model);

/// Writes the two files, each whole or not at all, into a folder, which is made
/// where there is none. `base`: the name of the model that it is for. THROWS:
/// as formats::write_safetensors.
[[nodiscard]] NEAP_API Result<void> save_adapter(
    const nn::Layer& model, const AdapterOptions& options,
    const std::string& folder, const std::string& base = {},
    files::Door& door = files::system_door());

/// Reads adapter_config.json. Failures: those of the file; kCorrupt for what is
/// none; kUnsupported for all that is not implemented, by name, in one line.
[[nodiscard]] NEAP_API Result<AdapterOptions> read_adapter_config(
    const std::string& folder, files::Door& door = files::system_door());

/// Adds the folder's adapter to a model without one, as add_adapter does. After
/// a failure of its weights the model has an adapter of other numbers.
/// Failures: as read_adapter_config; kMismatch where the weights are not those
/// of the config, by name.
[[nodiscard]] NEAP_API Result<AdapterOptions> load_adapter(
    nn::Layer& model, const std::string& folder,
    files::Door& door = files::system_door(), CallSite site = CallSite::here());

/// Adds the folder's adapter to the weights of a model without one: each weight
/// becomes weight + scale lora_B lora_A. One with modules that are whole is
/// refused: load_adapter and use it as it is. All tensors are checked before
/// the first weight is written. Failures: as load_adapter.
[[nodiscard]] NEAP_API Result<void> merge_adapter(
    nn::Layer& model, const std::string& folder,
    files::Door& door = files::system_door(), CallSite site = CallSite::here());

}  // namespace neap::models
