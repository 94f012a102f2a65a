// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// true where x is false; bool. THROWS: DTypeError.
NEAP_API Tensor logical_not(const Operand& x);

}  // namespace neap
