// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Nodes for values that were computed already, by something other than an op's
// own kernel: a rematerialised segment, a result that was kept.
#pragma once

#include "neap/graph/node.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {

/// True when a call leaves a node on the tape.
inline bool is_recorded(const OpCall& call) {
  if (call.op.vjp == nullptr || !tensor::thread_execution().grad_enabled) {
    return false;
  }
  for (const Operand& input : call.inputs) {
    if (input.tensor().requires_grad()) {
      return true;
    }
  }
  return false;
}

/// Puts `results` (one an output of the op, in no graph so far) on the tape as
/// what `call` gave, with all their copies; does nothing when the call would
/// not be recorded. No recorder is asked, nothing is run.
/// THROWS: OutOfMemory, with nothing changed.
NEAP_API void record_result(const OpCall& call, std::span<Tensor> results);

/// The number of the latest node of the process. What is recorded later has a
/// larger one.
NEAP_API std::uint64_t latest_sequence() noexcept;

}  // namespace neap::graph
