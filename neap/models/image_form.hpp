// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The images that a model of a folder expects: their size, and mean and
// deviation of their channels, as preprocessor_config.json of transformers
// says them, or pretrained_cfg in timm's config.json.
#pragma once

#include <array>
#include <string>

#include "neap/models/pretrained.hpp"

namespace neap::models {

struct ImageForm {
  std::int64_t channels = 3;
  std::int64_t size = 224;  // height and width
  /// To evaluate, the shorter side becomes so long, and the middle is cut out.
  std::int64_t shorter_side = 224;
  std::array<double, 3> mean{};
  std::array<double, 3> deviation{};
  /// The file that says mean and deviation; empty: the usual ones of the form.
  std::string said_by{};
};

/// Whether it is a Vit or a ResNet.
NEAP_API bool is_image_model(const PretrainedConfig& config) noexcept;

/// Reads FOLDER/preprocessor_config.json or, where that is not there, what
/// config.json says. Without either word a Vit takes mean and deviation of 1/2,
/// as transformers has them, a ResNet those of ImageNet. Members that have to
/// do with neither size nor statistics are passed over, and images are resized
/// bilinearly, whatever "resample" says. Failures: those of the files; kCorrupt
/// for what is no JSON object; kUnsupported, in one line, for all that cannot
/// be done, by name. REQUIRES: is_image_model(config).
[[nodiscard]] NEAP_API Result<ImageForm> read_image_form(
    const std::string& folder, const PretrainedConfig& config,
    const PretrainedOptions& options = {});

}  // namespace neap::models
