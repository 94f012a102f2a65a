// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// concat: out[0] is in[0], in[1], .. one after the other along the axis of
// AxisAttrs. Any number of inputs, of any one dtype, equal but for their
// extents along the axis; any strides.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList concat_kernels;

}  // namespace neap::kernels
