// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

/// The derivative rules of group_norm, for x of (n, c, s).
NEAP_API extern const graph::Op kGroupNormGrad;

}  // namespace neap::ops
