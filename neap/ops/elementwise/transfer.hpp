// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kTransfer;

/// Attributes of transfer.
struct TransferAttrs {
  tensor::SpaceId from;
  tensor::SpaceId to;
};
}  // namespace ops

/// x in another memory space; x itself when it lies there. Two spaces that are
/// not the host's transfer through the host. THROWS: DeviceError where a space
/// has no runtime.
NEAP_API Tensor to(const TensorOperand& x, tensor::SpaceId space);

}  // namespace neap
