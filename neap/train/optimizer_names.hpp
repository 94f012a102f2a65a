// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The names that an optimizer's parameters have in a checkpoint: their paths in
// the model. Groups may be made of children, whose parameters are named within
// the child, so that two of them are called "weight". Of this room alone.
#pragma once

#include "neap/optim/optimizer.hpp"

namespace neap::train {

using ParameterNames = memory::Vector<memory::String>;

/// Names of optimizer.parameters(); a parameter that `tensors`, those of
/// the model, do not have gets an empty name. THROWS: OutOfMemory.
ParameterNames names_in_model(const ParameterList& tensors,
                              const optim::Optimizer& optimizer);
/// The same of a list of tensors. Buffers are found by their elements.
ParameterNames names_in_model(const ParameterList& tensors,
                              const ParameterList& of);

}  // namespace neap::train
