// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Names of adapters in the files of peft. Of this room alone.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "neap/models/adapter.hpp"

namespace neap::models {

/// Whether a layer's path is one of the targets; all are where there is none.
bool is_target(std::string_view path,
               std::span<const std::string> targets) noexcept;

/// Whether a parameter's or layer's path is in one of the modules.
bool is_whole(std::string_view path,
              std::span<const std::string> whole) noexcept;

/// THROWS: ValueError for a target that no linear layer has.
void check_targets(nn::Layer& model, const AdapterOptions& options);

}  // namespace neap::models
