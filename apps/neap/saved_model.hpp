// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Models from files. What `neap train --save` writes says which model it is, of
// which sizes, and with which vocabulary; a file of parameters alone does not,
// and the command line has to.
#pragma once

#include <optional>

#include "neap/base/result.hpp"
#include "neap/data/vocabulary.hpp"
#include "neap/nn/module.hpp"
#include "settings.hpp"

namespace neap::app {

struct SavedModel {
  TrainSettings settings;  // the file's, and on top of them those given
  std::optional<data::Vocabulary> vocabulary{};
};

/// Reads what the file says of its model. `given`: of the command line.
/// Failures: those of the file; kMismatch for a setting that is not one.
Result<SavedModel> describe_saved(const std::string& path, const Texts& given);

/// Puts the file's parameters and buffers into the model. Failures: as
/// train::load.
Result<void> load_into(nn::Module& model, const std::string& path);

}  // namespace neap::app
