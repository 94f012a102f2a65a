// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/operand.hpp"
#include "neap/ops/conv/conv_options.hpp"

namespace neap {

/// conv2d over one spatial axis: x (n, c, l), or (c, l) for one sample;
/// weight (o, c / groups, k); bias (o); y (n, o, ol). THROWS: as conv2d.
NEAP_API Tensor conv1d(const Operand& x, const Operand& weight,
                       const ConvOptions<1>& options = {});
NEAP_API Tensor conv1d(const Operand& x, const Operand& weight,
                       const Operand& bias, const ConvOptions<1>& options = {});

}  // namespace neap
