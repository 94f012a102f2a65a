// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The choice of an input whose memory an output of a call may take over.
#pragma once

#include "neap/program/dataflow.hpp"

namespace neap::compiler {

/// Bit i: input i has the elements of output k, one for one and in the same
/// places, the op may write over them, and the value is the run's own. That
/// nobody else reads it afterwards is for the caller to see. 0: none.
std::uint32_t takeover_mask(const Program& program, const Dataflow& flow,
                            const Call& call, std::size_t k = 0);

}  // namespace neap::compiler
