// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For sources of losses only.
#pragma once

#include "neap/ops/loss/reduction.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::ops {

/// The mean over all elements, their sum, or the elements themselves.
Tensor reduced(Tensor losses, Reduction reduction);

}  // namespace neap::ops
