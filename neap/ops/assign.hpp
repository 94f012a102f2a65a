// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Writing into tensors that exist. In-place forms are for what no graph
// records: untracked tensors, and leaves under NoGrad. Where a recorded op
// still needs the old values, the write succeeds and its backward refuses,
// naming both call sites.
#pragma once

#include "neap/tensor/tensor.hpp"

namespace neap {

/// Writes src, broadcast to dst's shape, over dst. Both may lie on one storage.
/// THROWS: GraphError when dst is the result of a recorded op (a view too), a
/// leaf that requires grad outside NoGrad, or inside jvp or a trace; ShapeError
/// when src does not broadcast to dst or dst repeats elements; DTypeError,
/// DeviceError when they differ; OutOfMemory. dst is then as before.
NEAP_API void copy_(const Tensor& dst, const Tensor& src,
                    CallSite site = CallSite::here());

/// Writes one number over every element. THROWS: GraphError, ShapeError as
/// copy_.
NEAP_API void fill_(const Tensor& dst, double value,
                    CallSite site = CallSite::here());

}  // namespace neap
