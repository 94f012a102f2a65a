// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/ops/shape/copy.hpp"

namespace neap {

/// x itself where it is dense in row-major order, else a dense copy.
NEAP_API Tensor contiguous(const Operand& x);

}  // namespace neap
