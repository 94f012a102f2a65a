// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/operand.hpp"
#include "neap/ops/conv/conv_options.hpp"

namespace neap {

/// conv_transpose2d over one spatial axis: x (n, c, l), or (c, l) for one
/// sample; weight (c, o / groups, k); bias (o); y (n, o, ol). THROWS: as
/// conv_transpose2d.
NEAP_API Tensor conv_transpose1d(const Operand& x, const Operand& weight,
                                 const ConvTransposeOptions<1>& options = {});
NEAP_API Tensor conv_transpose1d(const Operand& x, const Operand& weight,
                                 const Operand& bias,
                                 const ConvTransposeOptions<1>& options = {});

}  // namespace neap
