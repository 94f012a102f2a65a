// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The options of `neap tokenizer`.
#pragma once

#include "tokenizer_command.hpp"

namespace CLI {
class App;
}

namespace neap::app {

/// LIFETIME: `settings` outlives the command.
void add_tokenizer_options(CLI::App& command, TokenizerSettings& settings);

}  // namespace neap::app
