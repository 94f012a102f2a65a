// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Replay: whether what runs now ran before. A rematerialised segment computes
// its inner values again in the backward; what a function does to the world
// besides (statistics that a layer keeps) was done in its forward, and is not
// to be done twice.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::graph {

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

/// Of one recorder; nullptr: the eager one.
NEAP_API bool runs_again(const Recorder* recorder) noexcept;

/// Of the current thread's.
inline bool runs_again() noexcept {
  return runs_again(memory::context().recorder);
}

}  // namespace neap::graph
