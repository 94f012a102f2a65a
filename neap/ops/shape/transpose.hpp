// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// A view with two axes exchanged; negative axes count from the end.
/// THROWS: ShapeError for a bad axis.
NEAP_API Tensor transpose(const Operand& x, std::int64_t a = -2,
                          std::int64_t b = -1);

}  // namespace neap
