// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Trace: what a step that is being traced reports besides its op calls: writes
// into tensors that exist, checks of values, what of the host's state it
// depends on. It is part of the context; outside a trace everything is done at
// once, and nobody is told.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "neap/base/any_ref.hpp"
#include "neap/graph/op.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {

class Hook;
class Leaf;

/// The rank that alone makes a write of a step of several ranks, which then
/// give each other what it wrote; with `ranks` 1 each of them makes it.
struct WriteShare {
  int rank = 0;
  int ranks = 1;
};

/// A part of every run of a traced step: an optimizer, whose updates
/// depend on the step's number. LIFETIME: the program's.
class NEAP_API RunListener {
 public:
  RunListener() = default;
  virtual ~RunListener() = default;
  RunListener(const RunListener&) = delete;
  RunListener& operator=(const RunListener&) = delete;

  /// A run is about to begin, and nothing was written yet. May throw; the run
  /// then does not take place, and no after_run comes.
  virtual void before_run() {}
  /// Attributes of the write that was recorded with `index`, for this run.
  virtual void write_attrs(std::uint32_t index, void* attrs) const noexcept = 0;
  /// The rank that makes the write of that index. Its first output is a tensor
  /// that all ranks have, the others are of that rank alone.
  virtual WriteShare share_of(std::uint32_t /*index*/) const noexcept {
    return {};
  }
  /// The run is over and has succeeded. `calls`: how often the step told the
  /// trace to listen.
  virtual void after_run(std::uint32_t calls) noexcept {
    static_cast<void>(calls);
  }
};

/// A kernel that writes into tensors that exist (parameters, state).
struct Write {
  std::string_view name;  // name shown in programs: "adam"
  const kernels::KernelList& list;
  std::span<const Tensor> in;
  std::span<const Tensor> out;
  Attrs attrs;  // attributes of a first run; plain bytes
  /// The listener that gives the attributes of each run, under this index, or
  /// nullptr.
  RunListener* listener = nullptr;
  std::uint32_t index = 0;
  /// False: every element of each output is set and none is read.
  bool reads_out = true;
  base::SiteId site{};
};

/// The most values that one host read sees.
inline constexpr std::size_t kMostChecked = 4;

/// A host read of values that a kernel could not refuse. `look` throws a typed
/// error that names `op`.
struct Check {
  const char* op;
  void (*look)(const char* op, std::span<const tensor::Strided> values,
               const Attrs& attrs);
  std::span<const Tensor> values;  // values in host memory; up to kMostChecked
  Attrs attrs;                     // plain bytes
  base::SiteId site{};
};

class NEAP_API Trace {
 public:
  Trace() noexcept;
  virtual ~Trace() = default;
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// A number unlike that of any other trace of the process.
  std::uint64_t number() const noexcept { return number_; }
  /// Nodes with this sequence or a lower one were there before the trace.
  std::uint64_t since() const noexcept { return since_; }

  /// THROWS: TraceError where a write cannot be traced (inside jvp or a
  /// rematerialised segment); OutOfMemory.
  virtual void write(const Write& write) = 0;
  virtual void check(const Check& check) = 0;
  /// The step branched on `flag`: a program holds for one value of it. LIFETIME
  /// of the flag: the program's, which keeps `owner` for that.
  virtual void depends_on(const bool& flag, base::AnyRef owner) = 0;
  /// The step used an object whose `generation` is incremented when it changes
  /// (a module that is assigned over, swapped, extended): a program holds for
  /// one. Where there is no memory to note it, the trace will fail.
  virtual void depends_on_generation(const std::uint32_t& generation,
                                     base::AnyRef owner) noexcept = 0;
  /// The step is about to set `flag`, which is set again after every run. It is
  /// the value at the step's entry that a program holds for. RETURNS: as
  /// on_grad_change.
  virtual bool on_flag_change(bool& flag, base::AnyRef owner) noexcept = 0;
  /// Plain numbers of the step's caller, and what is computed of such alone,
  /// are f64 until they meet a tensor. The dtype in which a call takes those
  /// among its inputs; none: there is none, or they stay as they are.
  virtual std::optional<DType> dtype_of_numbers(const OpCall& /*call*/) const {
    return std::nullopt;
  }
  /// A plain number of the step's caller in another dtype; every other tensor
  /// unchanged.
  virtual Tensor number_as(DType /*dtype*/, const Tensor& tensor,
                           base::SiteId /*site*/) {
    return tensor;
  }
  /// The f64 `scalar`, just made, is such a number.
  virtual void on_number(const Tensor& /*scalar*/) {}
  /// State that the step makes may be away until a run needs it
  /// (tensor::Storage::allocate_away).
  virtual bool is_state_late() const noexcept { return false; }
  /// Told whenever the listener takes part, even if it writes nothing.
  virtual void listen(RunListener& listener) = 0;
  /// A leaf's gradient is about to be read, or replaced. False: there is no
  /// memory to note it, the gradient is to stay, and the trace will fail.
  virtual void on_grad_read(Leaf& leaf) = 0;
  virtual bool on_grad_change(Leaf& leaf) noexcept = 0;
  /// The leaf's requires_grad is about to be set. RETURNS: as on_grad_change.
  virtual bool on_mode_change(Leaf& leaf) noexcept = 0;
  /// The leaf's hooks are about to be read, or one is added.
  virtual void on_hooks(Leaf& leaf) = 0;
  /// The step removes a hook that was there before: it stays, and the trace
  /// will fail.
  virtual void on_hook_removal(const Hook& hook) noexcept = 0;
  /// The step moves, assigns over or destroys a module that was there before:
  /// it stays as it is, unless it is destroyed, and the trace will fail.
  virtual void on_module_move() noexcept {}
  static constexpr std::uint32_t kAnew = ~0U;
  /// Calls recorded from now on belong to `segment`, or (kAnew) to a new one.
  /// RETURNS: the segment until now.
  virtual std::uint32_t enter_segment(std::uint32_t segment) noexcept = 0;

 private:
  std::uint64_t number_;
  std::uint64_t since_;
};

/// The trace of the current thread's context, or nullptr.
inline Trace* trace() noexcept {
  return tensor::thread_execution().trace;
}

/// Runs a host read of values: at once, or in every run of what is being
/// traced.
NEAP_API void run_check(const Check& check);

/// The recorder of op calls that is part of the current trace; without one the
/// eager recorder. A recorder that wraps it passes calls on.
NEAP_API Recorder& base_recorder() noexcept;

/// Calls recorded inside the block are not to be merged with those outside:
/// a rematerialised segment runs again on purpose.
class NEAP_API AnewSegment {
 public:
  AnewSegment() noexcept
      : trace_(trace()),
        outer_(trace_ ? trace_->enter_segment(Trace::kAnew) : 0) {}
  ~AnewSegment() {
    if (trace_ != nullptr) {
      trace_->enter_segment(outer_);
    }
  }
  AnewSegment(const AnewSegment&) = delete;
  AnewSegment& operator=(const AnewSegment&) = delete;

 private:
  Trace* trace_;
  std::uint32_t outer_;
};

/// True when `link` is the only reference to what it refers to.
NEAP_API bool is_last_reference(
    const base::Ref<tensor::GraphLink>& link) noexcept;

/// Makes `trace` the current thread's for a block of code.
class NEAP_API UseTrace : public tensor::ExecutionGuard {
 public:
  explicit UseTrace(Trace* trace)
      : ExecutionGuard([=](tensor::Execution& c) { c.trace = trace; }) {}
};

}  // namespace neap::graph
