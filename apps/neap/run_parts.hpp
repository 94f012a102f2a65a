// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Parts of a run that several commands make of the settings in the same way.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neap/compile/born_away.hpp"
#include "neap/data/image_set.hpp"
#include "neap/data/loader.hpp"
#include "neap/data/vocabulary.hpp"
#include "neap/ops/precision.hpp"
#include "neap/optim/ema.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/optim/plateau.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/metrics.hpp"
#include "settings.hpp"

namespace neap::app {

/// Gives the process the settings' threads, budget and plug-in. Failures:
/// those of kernels::load_plugin.
Result<void> set_up(const TrainSettings& settings);

/// The weight decay of the settings, or else the optimizer's own default.
double weight_decay_of(const TrainSettings& settings);

/// An optimizer of the parameters that are not frozen.
std::unique_ptr<optim::Optimizer> make_optimizer(const TrainSettings& settings,
                                                 ParameterList parameters);

/// Averages of what changes in training, where the settings ask for them; else
/// null: of the parameters that are not frozen and the floating buffers, such
/// as a batch norm's running means, which belong to the averaged weights.
std::unique_ptr<optim::Ema> make_average(const TrainSettings& settings,
                                         const nn::Module& model);

/// Lowers the optimizer's rates, with the schedule plateau; else null.
std::unique_ptr<optim::ReduceOnPlateau> make_plateau(
    const TrainSettings& settings, optim::Optimizer& optimizer);

/// The rate of each step of a run of `steps`; empty: the optimizer's own.
optim::Schedule make_schedule(const TrainSettings& settings,
                              std::int64_t steps);

/// The precision of products. Fails where this processor lacks it.
Result<Precision> precision_of(const TrainSettings& settings);

/// How the steps are compiled: pages, and the limit of the arena.
/// With the plan file, which is of the training step alone.
CompileOptions step_options(const TrainSettings& settings);
CompileOptions compile_options(const TrainSettings& settings);

/// Where weights are made in the spill file, what sends them there; else null.
/// THROWS: as BornAway.
std::unique_ptr<BornAway> born_away(const TrainSettings& settings);

std::string data_directory(const TrainSettings& settings);

std::vector<std::int64_t> mlp_widths(const TrainSettings& settings,
                                     std::int64_t pixels, std::int64_t classes);

/// Options of the log that a run writes; nothing where it writes none.
std::optional<train::MetricsOptions> metrics_of(const TrainSettings& settings);

/// Facts that a resumed run must share with the one that saved it, of a run of
/// `steps`: all settings that its bits depend on; and a text's vocabulary
/// (which may be null), for those who use the model; notes of its data, for
/// `eval`.
/// `classes`: their names in lines, where the task has some.
train::Facts facts_of(const TrainSettings& settings, std::int64_t steps,
                      const data::Vocabulary* vocabulary,
                      std::string_view classes = {});
/// The data that a plateau is measured on are one more.
void add_test_data(const TrainSettings& settings, const data::Loader& loader,
                   train::Facts& facts);

}  // namespace neap::app
