// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Setters: each reads the text of a setting into its field, or says in a few
// words what was expected.
#pragma once

#include <limits>

#include "settings.hpp"

namespace neap::app {

using Setter = std::function<std::string(TrainSettings&, const std::string&)>;

Setter whole(std::int64_t TrainSettings::*field, std::int64_t least,
             std::int64_t most = std::numeric_limits<std::int32_t>::max());
Setter real(double TrainSettings::*field, double least, double below);
/// A finite number from 0 on, below a bound.
Setter maybe_real(std::optional<double> TrainSettings::*field,
                  double below = std::numeric_limits<double>::infinity());
Setter one_of(std::string TrainSettings::*field,
              const std::vector<std::string>& choices);
/// Sets a flag from "true" or "false".
Setter flag(bool TrainSettings::*field);
Setter on_or_off(bool TrainSettings::*field);
/// Any that is not empty.
Setter any_text(std::string TrainSettings::*field);
/// A model by its name, or that of a folder: either takes the other's place.
Setter set_model(const std::vector<std::string>& choices);
std::string set_from(TrainSettings& s, const std::string& text);
/// lora:RANK, lora:RANK:ALPHA, or a folder.
std::string set_adapter(TrainSettings& s, const std::string& text);
std::string set_seed(TrainSettings& s, const std::string& text);
std::string set_hidden(TrainSettings& s, const std::string& text);
std::string set_budget(TrainSettings& s, const std::string& text);
std::string set_spill_rate(TrainSettings& s, const std::string& text);
std::string set_spill_a_day(TrainSettings& s, const std::string& text);
std::string set_save_every(TrainSettings& s, const std::string& text);

}  // namespace neap::app
