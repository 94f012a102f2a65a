// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kConcat;
}  // namespace ops

/// The tensors one after the other along an axis (PyTorch's cat): any number
/// of them, of one dtype, their shapes equal but for that axis. Their gradients
/// are slices of dy.
/// THROWS: ValueError for none; ShapeError; DTypeError.
NEAP_API Tensor concat(std::span<const Tensor> tensors, std::int64_t axis = 0,
                       CallSite site = CallSite::here());
NEAP_API Tensor concat(std::initializer_list<Tensor> tensors,
                       std::int64_t axis = 0, CallSite site = CallSite::here());

/// Tensors of one shape along a new axis, which -1 puts last. THROWS: as
/// concat.
NEAP_API Tensor stack(std::span<const Tensor> tensors, std::int64_t axis = 0,
                      CallSite site = CallSite::here());
NEAP_API Tensor stack(std::initializer_list<Tensor> tensors,
                      std::int64_t axis = 0, CallSite site = CallSite::here());

}  // namespace neap
