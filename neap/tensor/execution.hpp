// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Execution: how ops run on the current thread: by whom they are recorded, on
// which threads and with which generator they compute, and whether a step is
// traced. The rooms above put what they need here as opaque pointers. It is a
// thread-local of its own beside memory::Context, which says for whom memory is
// allocated. Only guards change it, and every guard restores what it found.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neap/base/api.hpp"
#include "neap/base/outside.hpp"

namespace neap::graph {
class Observer;
class Recorder;
class Trace;
}  // namespace neap::graph
namespace neap::kernels {
enum class Precision : std::uint8_t;
}
namespace neap::threads {
class Executor;
}

namespace neap::tensor {

class Creator;
class DyingTangents;
class Generator;

struct Execution {
  bool grad_enabled = true;
  kernels::Precision precision{};           // precision of products: f32
  graph::Recorder* recorder = nullptr;      // nullptr: the eager one
  threads::Executor* executor = nullptr;    // nullptr: the default pool
  Generator* generator = nullptr;           // nullptr: the default one
  graph::Observer* observer = nullptr;      // told of nodes that are freed
  graph::Trace* trace = nullptr;            // set while a step is traced
  Creator* creator = nullptr;               // asked when tensors are created
  DyingTangents* dying_tangents = nullptr;  // set while some are freed
};

/// The current thread's, read-only. A step that is traced is refused where it
/// asks, since its fields are those of the trace then; is_grad_enabled(),
/// current_precision() and executor().threads() are guards.
NEAP_API const Execution& execution(
    const base::CallSite& site = base::CallSite::here()) noexcept;
/// The same for the library, which is no question of a step's.
NEAP_API const Execution& thread_execution() noexcept;

/// Whether ops are recorded for derivatives. A step may ask: it is traced again
/// where the mode at its entry differs.
inline bool is_grad_enabled() noexcept {
  return thread_execution().grad_enabled;
}

/// The threads that the current thread's kernels run on: those of the
/// execution's executor, or the default pool.
NEAP_API threads::Executor& executor();

/// Changes the execution for a block of code:
///   ExecutionGuard guard([&](Execution& e) { e.executor = &pool; });
class NEAP_API ExecutionGuard {
 public:
  template <class Change>
  explicit ExecutionGuard(const Change& change) : outer_(current()) {
    change(current());
  }
  ~ExecutionGuard() { current() = outer_; }
  ExecutionGuard(const ExecutionGuard&) = delete;
  ExecutionGuard& operator=(const ExecutionGuard&) = delete;
  static void* operator new(std::size_t) = delete;

 private:
  static Execution& current() noexcept;
  Execution outer_;
};

/// Sets whether ops are recorded for derivatives, for a block of code.
class NEAP_API UseGradMode : public ExecutionGuard {
 public:
  explicit UseGradMode(bool is_enabled)
      : ExecutionGuard([=](Execution& e) { e.grad_enabled = is_enabled; }) {}
};

}  // namespace neap::tensor

namespace neap {
using tensor::is_grad_enabled;
}  // namespace neap
