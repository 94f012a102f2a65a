// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// neap eval: measures a model from a file.
#pragma once

#include "exit_code.hpp"
#include "settings.hpp"

namespace neap::app {

/// `given`: texts of eval_settings(), "load" among them.
ExitCode eval(const Texts& given);

}  // namespace neap::app
