// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Models from files. What `neap train --save` writes says which model it is, of
// which sizes, and with which vocabulary; a file of parameters alone does not,
// and the command line has to.
#pragma once

#include <memory>
#include <optional>

#include "neap/base/function_ref.hpp"
#include "neap/base/result.hpp"
#include "neap/data/vocabulary.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/nn/layer.hpp"
#include "settings.hpp"

namespace neap::app {

struct SavedModel {
  TrainSettings settings;  // those that the file has, of its model
  std::optional<data::Vocabulary> vocabulary{};
  Texts data{};  // settings of the data that it was trained on
};

/// The setting in the form that formats::SafetensorsFile takes.
formats::Verify verify_of(bool is_on) noexcept;

/// Reads what the file says of its model. Failures: those of the file.
Result<SavedModel> describe_saved(const std::string& path,
                                  formats::Verify verify);

/// Opens the checkpoint that --resume names, where it does. Failures: those of
/// the file; kMismatch where its run keeps averages and --ema is not given.
Result<void> check_resumed(const TrainSettings& s);

/// Whether the model that `make` makes is the one whose tensors the file has.
/// It is made without elements: a file that claims another one costs no memory.
/// Failures: as train::load.
Result<void> check_fits(base::FunctionRef<std::unique_ptr<nn::Layer>()> make,
                        const std::string& path);

/// Puts the file's parameters and buffers into the model; with `averages` those
/// of a checkpoint that has them. Failures: as train::load.
Result<void> load_into(nn::Module& model, const std::string& path,
                       formats::Verify verify, bool averages = true);

/// Puts a checkpoint, --load, over the model of --from: its averages or its
/// weights. What it has in BF16 is widened unless --weights file keeps it so,
/// which leaves every bit of what is computed. Failures: as train::load.
Result<void> load_over(nn::Module& model, const TrainSettings& s);

}  // namespace neap::app
