// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Replay: whether the code that runs now ran before. A rematerialised segment
// recomputes its inner values in the backward; side effects of its function
// (statistics that a layer keeps) took place in its forward, and are not
// repeated. A recomputed value has no node on the graph of the forward that
// anything could lead to.
#pragma once

#include <string_view>

#include "neap/graph/recorder.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {

/// The op of the node of every value that a rematerialised segment computes in
/// its forward. The node is retired from the start.
NEAP_API extern const Op kInsideSegment;

/// Whether a tensor is of such a node, which no backward reaches.
/// THROWS: UseAfterRelease when undefined.
NEAP_API bool is_inside_segment(const Tensor& tensor);
/// Refuses a gradient of a value inside a segment; `what` begins the message.
/// THROWS: GraphError.
[[noreturn]] NEAP_API void refuse_inside_segment(std::string_view what,
                                                 const Tensor& tensor);

/// Whether the current thread runs a segment's function: a hook that it
/// registers on an inner value is registered again, and called, when the
/// function runs again.
NEAP_API bool runs_segment() noexcept;

/// A recorder that may be current in such a run, or wrap one that is.
class NEAP_API Replay {
 public:
  virtual bool runs_again() const noexcept = 0;

  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

 protected:
  Replay() = default;
  virtual ~Replay();
};

/// Whether a recorder runs again; nullptr: the eager one.
NEAP_API bool runs_again(const Recorder* recorder) noexcept;

/// Whether the current thread's recorder runs again.
inline bool runs_again() noexcept {
  return runs_again(tensor::thread_execution().recorder);
}

}  // namespace neap::graph
