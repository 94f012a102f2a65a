// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The options of `neap sample`.
#pragma once

#include "sample_command.hpp"

namespace CLI {
class App;
}

namespace neap::app {

/// LIFETIME: `settings` outlives the command.
void add_sample_options(CLI::App& command, SampleSettings& settings);

}  // namespace neap::app
