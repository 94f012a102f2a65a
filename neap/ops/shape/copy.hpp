// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCopy;
}  // namespace ops

/// A dense copy in new storage of the same space; any dtype.
NEAP_API Tensor copy(const Operand& x);

}  // namespace neap
