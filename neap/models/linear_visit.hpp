// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LinearVisit: what a model is given to be shown its linear layers.
#pragma once

#include "neap/base/function_ref.hpp"
#include "neap/nn/linear.hpp"

namespace neap::models {

using LinearVisit = base::FunctionRef<void(nn::Linear&)>;

}  // namespace neap::models
