// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How a checkpoint names what it holds. Of this room alone.
#pragma once

#include <fmt/core.h>

#include "neap/base/append.hpp"
#include "neap/train/module_state.hpp"

namespace neap::train {

inline constexpr std::string_view kCheckpointVersion = "1";
inline constexpr std::string_view kStepKey = "neap.step";
inline constexpr std::string_view kEpochKey = "neap.epoch";
inline constexpr std::string_view kBatchKey = "neap.batch";
inline constexpr std::string_view kSeedKey = "neap.random.seed";
inline constexpr std::string_view kDrawKey = "neap.random.draw";
inline constexpr std::string_view kOptimizerStepsKey = "neap.optimizer.steps";
/// Before the number of a group.
inline constexpr std::string_view kRatePrefix = "neap.optimizer.rate.";
inline constexpr std::string_view kGroupPrefix = "neap.optimizer.group.";
/// Before the name of a parameter.
inline constexpr std::string_view kUpdatesPrefix = "neap.optimizer.updates.";
/// The updates of the averages.
inline constexpr std::string_view kAverageUpdatesKey = "neap.average.updates";
/// The numbers of a plateau.
inline constexpr std::string_view kBestKey = "neap.plateau.best";
inline constexpr std::string_view kBadKey = "neap.plateau.bad";
inline constexpr std::string_view kCoolingKey = "neap.plateau.cooling";
/// The name of averages among the optimizer's tensors.
inline constexpr std::string_view kAverage = "average";
/// Before the key of a fact.
inline constexpr std::string_view kFactPrefix = "run.";
/// Begins the key of a fact that is not compared.
inline constexpr std::string_view kNotePrefix = "note.";

/// The fact that is XXH3 of what the data hold.
inline constexpr std::string_view kDataFact = "loader.data";

template <class... Args>
memory::String text_of(fmt::format_string<Args...> format, Args&&... args) {
  memory::String out;
  base::append(out, format, std::forward<Args>(args)...);
  return out;
}

/// "optimizer.exp_avg.fc1.weight"
inline memory::String state_name(std::string_view tensor,
                                 std::string_view parameter) {
  return text_of("{}{}.{}", kOptimizerPrefix, tensor, parameter);
}

}  // namespace neap::train
