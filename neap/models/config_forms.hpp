// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The options of a form of model, read from its config.json, and what their
// readers share. Of this room alone.
#pragma once

#include "neap/models/json_config.hpp"
#include "neap/models/pretrained.hpp"

namespace neap::models {

// Each reads the members that it knows, with the caller's choices in the place
// of the config's, and complains of all that is not implemented.
LlamaOptions read_llama(JsonConfig& config, std::string_view type,
                        const PretrainedOptions& options);
GptOptions read_gpt(JsonConfig& config, const PretrainedOptions& options);
BertOptions read_bert(JsonConfig& config, const PretrainedOptions& options);
VitOptions read_vit(JsonConfig& config, const PretrainedOptions& options);
/// A config of timm's, whose "architecture" is `name`.
ResNetOptions read_resnet(JsonConfig& config, std::string_view name,
                          const PretrainedOptions& options);

/// Complains where a member is not what alone is implemented.
void expect_choice(JsonConfig& config, std::string_view key, bool wanted);
/// Complains unless the weights are of this class, which has the head, or of a
/// body without one.
void check_architecture(JsonConfig& config, std::string_view expected);
/// The form of gelu that a member names. Complains of other activations.
GeluForm read_gelu(JsonConfig& config, std::string_view key,
                   std::string_view usual);
/// The classes of a classifier: the caller's, or as many as id2label has.
std::int64_t read_classes(JsonConfig& config, const PretrainedOptions& options);
/// The caller's dropout, or the config's. Complains of what is none.
double read_dropout(JsonConfig& config, std::string_view key, double usual,
                    const PretrainedOptions& options);
/// Complains of a `block` beyond the positions that there are.
void check_block(JsonConfig& config, const PretrainedOptions& options,
                 std::int64_t positions);

}  // namespace neap::models
