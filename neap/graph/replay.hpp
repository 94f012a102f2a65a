// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Replay: whether what runs now ran before. A rematerialised segment computes
// its inner values again in the backward; what a function does to the world
// besides (statistics that a layer keeps) was done in its forward, and is not
// to be done twice. A value that is computed again has no place on the graph of
// the forward that anything could lead to.
#pragma once

#include <string_view>

#include "neap/graph/recorder.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {

/// The op at the place of every value that a rematerialised segment computes in
/// its forward. The place is retired from the start.
NEAP_API extern const Op kInsideSegment;

/// Whether a tensor is at such a place, which no backward comes to.
/// THROWS: UseAfterRelease when undefined.
NEAP_API bool is_inside_segment(const Tensor& tensor);
/// Refuses to give such a tensor a gradient; `what` begins the message.
/// THROWS: GraphError.
[[noreturn]] NEAP_API void refuse_inside_segment(std::string_view what,
                                                 const Tensor& tensor);

/// Whether the current thread runs such a function: a hook that it registers on
/// an inner value is registered again, and called, when the function runs
/// again.
NEAP_API bool runs_segment() noexcept;

/// A recorder that may stand in such a run, or before one that does.
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

/// Whether the current thread's recorder does.
inline bool runs_again() noexcept {
  return runs_again(tensor::execution().recorder);
}

}  // namespace neap::graph
