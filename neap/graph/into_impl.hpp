// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The parts of run_into() that do not run anything. For sources of this room.
#pragma once

#include "neap/graph/into.hpp"
#include "neap/graph/trace.hpp"

namespace neap::graph {

/// THROWS: ShapeError, ValueError as run_into(). `result`: what the op's shape
/// rule gave for its only output.
void check_into(const OpCall& call, const Spec& result, const Tensor& dst);

/// Records the call as a write. THROWS: as run_into(), and TraceError.
/// REQUIRES: the trace records op calls too.
void write_into(Trace& trace, const OpCall& call, const Tensor& dst);

}  // namespace neap::graph
