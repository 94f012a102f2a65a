// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Guards: all that a program took for granted of the world outside, in one
// place: it holds for a call where everything is as it was when its step was
// traced. What a step can read or set, and that no guard covers, is refused
// while it is traced. docs/compile.md has the list.
//
//   of the call       domain, grad mode, precision, threads, whether a scope is
//                     open; specs of arguments
//   of objects        flags (train and eval), leaves (mode, hooks, gradient)
//   of handles        what captured handles and members of modules mean
//
// For sources of this room. LIFETIME: the program outlives the guards.
#pragma once

#include <string>

#include "neap/compile/trace.hpp"
#include "neap/kernels/engine/precision.hpp"
#include "neap/memory/context.hpp"
#include "neap/program/program.hpp"
#include "neap/tensor/handle_watch.hpp"

namespace neap::compiler {

/// A guard that does not hold.
struct BrokenGuard {
  enum class What : std::uint8_t {
    kNone,
    kDomain,
    kGradMode,
    kPrecision,
    kThreads,
    kScope,
    kArgumentCount,
    kArgument,  // its spec
    kRows,      // of all ranks' batch
    kNumber,    // given as a plain number, or as a tensor of f64
    kGaps,      // of an argument's view
    kArgumentScope,
    kFlag,        // of Program::flags
    kGeneration,  // of Program::generations
    kTensor,      // of Program::externals
    kHandle,      // of Program::held_handles
    kState,       // of Program::rebound_handles
    kTwins,       // of Program::twins
    kHome,        // of Program::held_handles: its scope
    kLeafMode,    // of Program::leaves
    kLeafHooks,   // likewise
    kGradient,    // of Program::grads
  };
  What what = What::kNone;
  std::size_t index = 0;

  explicit operator bool() const noexcept { return what != What::kNone; }
};

class Guards {
 public:
  /// The world as it is now. THROWS: OutOfMemory.
  Guards(const Program& program, int threads);
  Guards(const Guards&) = delete;
  Guards& operator=(const Guards&) = delete;

  /// The first guard that does not hold for a call.
  BrokenGuard broken(const GivenArguments& given) const;
  /// Like broken(), of guards that will never hold again: the program may go.
  BrokenGuard broken_for_ever() const;
  /// A line such as "argument 0 is f32 [3], was f32 [2]".
  std::string describe(const BrokenGuard& guard,
                       const GivenArguments& given) const;

  /// The handle object of a rebound or of a held handle. REQUIRES: guards
  /// hold.
  Tensor& state(std::size_t i) const noexcept { return *states_[i].handle(); }
  const Tensor& held(std::size_t i) const noexcept {
    return *held_[i].handle();
  }

 private:
  BrokenGuard broken_context() const noexcept;
  BrokenGuard broken_arguments(const GivenArguments& given) const;
  BrokenGuard broken_objects() const;
  BrokenGuard broken_leaves() const;
  bool does_state_hold(std::size_t i) const;
  bool are_one(const Twins& twins) const noexcept;
  bool fits_gaps(const Tensor& tensor, std::size_t i) const;
  std::string text_of_strides(std::size_t i) const;
  std::string describe_argument(std::size_t i,
                                const GivenArguments& given) const;
  std::string describe_context(BrokenGuard::What what) const;
  std::string describe_object(const BrokenGuard& guard) const;

  const Program& program_;
  memory::Domain& domain_;
  bool grad_enabled_;
  kernels::Precision precision_;
  int threads_;
  bool is_in_scope_;
  std::uint64_t nest_;  // of scopes
  bool asks_where_arguments_are_;
  memory::Vector<tensor::HandleWatch> held_;
  memory::Vector<tensor::HandleWatch> states_;
};

}  // namespace neap::compiler
