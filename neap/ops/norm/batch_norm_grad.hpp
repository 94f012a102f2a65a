// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

/// The derivative rules of batch_norm, for x of (n, c, s).
NEAP_API extern const graph::Op kBatchNormGrad;

}  // namespace neap::ops
