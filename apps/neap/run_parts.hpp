// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What training and planning make of the settings in the same way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "neap/data/image_set.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/train/checkpoint.hpp"
#include "settings.hpp"

namespace neap::app {

std::unique_ptr<optim::Optimizer> make_optimizer(
    const TrainSettings& settings, const ParameterList& parameters);

std::string data_directory(const TrainSettings& settings);

/// From the pixels of an image to the classes.
std::vector<std::int64_t> mlp_widths(const TrainSettings& settings,
                                     const data::ImageSet& set);

/// What a resumed run must share with the one that saved it, of a run of
/// `steps`: all settings that its bits depend on.
train::Facts facts_of(const TrainSettings& settings, std::int64_t steps);

}  // namespace neap::app
