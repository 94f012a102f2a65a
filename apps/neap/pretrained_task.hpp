// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Models of Hugging Face's folders (--from DIR): config.json and weights by
// models::pretrained, and a text as the ids of the folder's tokenizer.json.
// photo_task.hpp has those for images.
#pragma once

#include <memory>
#include <string>

#include "neap/data/text_set.hpp"
#include "neap/models/adapter.hpp"
#include "neap/models/pretrained.hpp"
#include "neap/text/tokenizer.hpp"
#include "task.hpp"

namespace neap::app {

/// The model's options, by the settings.
/// `classes`: of the head of a classifier; 0 of language models.
models::PretrainedOptions pretrained_options(const TrainSettings& settings,
                                             std::int64_t classes = 0);

/// The adapter of the settings: a new one, or by the config of its folder.
/// REQUIRES: --adapter. Failures: as models::read_adapter_config.
Result<models::AdapterOptions> adapter_options(const TrainSettings& settings);

/// Reads the config, and checks that its model can do what the settings say
/// with their data. Failures: as models::read_config; kUnsupported.
Result<models::PretrainedConfig> look_at_config(const TrainSettings& settings,
                                                std::int64_t classes = 0);

/// Reads the config, and checks the weights, and those of an adapter, against
/// it, which costs the memory of their headers alone. Failures: as
/// models::from_pretrained and models::load_adapter.
Result<models::PretrainedConfig> look_at_pretrained(
    const TrainSettings& settings, std::int64_t classes = 0);

/// The folder's model, with its weights. THROWS: data::ReadError for a folder
/// that is not as it was when it was looked at.
std::unique_ptr<nn::Layer> make_pretrained_model(const TrainSettings& settings,
                                                 std::int64_t classes = 0);

/// The tokenizer of a folder. Failures: as text::Tokenizer::open.
Result<text::Tokenizer> open_tokenizer(const std::string& folder);

/// The same of the settings' folder; kMismatch where it has ids that its model
/// of `vocab` tokens has not.
Result<text::Tokenizer> open_tokenizer(const TrainSettings& settings,
                                       std::int64_t vocab);

/// The text of the settings as ids. Failures: those of its file, and of
/// the tokenizer.
Result<data::Text> read_ids(const TrainSettings& settings,
                            const models::PretrainedConfig& config);

/// REQUIRES: --from, and a text. Failures: all of the above.
Result<std::unique_ptr<Task>> make_pretrained_task(
    const TrainSettings& settings);

/// Writes the model's adapter where --save-adapter says; nothing without.
Result<void> save_adapter(const TrainSettings& settings,
                          const nn::Layer& model);

/// XXH3 of the config.json, as 16 digits; empty where it cannot be read.
std::string config_digest(const TrainSettings& settings);

}  // namespace neap::app
