// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How a loss becomes one number, or does not.
#pragma once

#include "neap/kernels/loss/loss_attrs.hpp"

namespace neap {

/// kMean over all elements (or samples), kSum, or kNone: every element's own.
using Reduction = kernels::LossReduction;

}  // namespace neap
