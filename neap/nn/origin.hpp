// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Origin: the part of a registry, and of what a module has in memory of its
// own, that knows whether it was there before the step that is traced. No run
// of the step would move it again, so that the trace is refused; and it stays
// where it is, so that nothing needs to be undone. For sources of layers only.
#pragma once

#include <cstdint>

#include "neap/graph/trace.hpp"

namespace neap::nn {

class Origin {
 public:
  Origin() noexcept : trace_(graph::trace() ? graph::trace()->number() : 0) {}

  /// False while a step is traced that found it there: the owner must not be
  /// moved, assigned over or destroyed, and the trace will fail.
  bool may_move() const noexcept {
    graph::Trace* trace = graph::trace();
    if (trace == nullptr || trace->number() == trace_) {
      return true;
    }
    trace->on_module_move();
    return false;
  }

 private:
  std::uint64_t trace_;  // the number of the one it was made in; 0: none
};

}  // namespace neap::nn
