// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CompiledStep: the implementation of neap::compile's callable, whatever its
// types. Calls may come from any thread, one at a time; a call and a move at
// one time are the caller's mistake.
#pragma once

#include <string>

#include "neap/compile/options.hpp"
#include "neap/compile/prediction.hpp"
#include "neap/compile/profile.hpp"
#include "neap/compile/trace.hpp"

namespace neap::compiler {

/// An argument of a call: a tensor, or a number (a tensor of rank 0 then).
struct Argument {
  const Tensor* tensor = nullptr;
  double number = 0.0;
  bool is_exact = true;  // a double is the number
};

class StepCore;

/// All functions of one that was moved from THROW: UseAfterRelease.
class NEAP_API CompiledStep {
 public:
  /// THROWS: ValueError for options that make no sense; OutOfMemory.
  CompiledStep(const CompileOptions& options, const CallSite& site);
  CompiledStep(CompiledStep&& other) noexcept;
  CompiledStep& operator=(CompiledStep&& other) noexcept;
  ~CompiledStep();

  /// Runs the program for these arguments, traced first where there is none.
  /// `expect` is told the number of results before a run, and may throw; `take`
  /// is given them before another call may begin. A call that throws frees what
  /// it allocated, except what a run that has begun needs.
  /// THROWS: as trace() and a run; PlanError; ValueError for arguments that a
  /// step cannot take, and while another call runs.
  void call(Step step, std::span<const Argument> arguments,
            base::FunctionRef<void(std::size_t)> expect,
            base::FunctionRef<void(std::span<Tensor>)> take);
  /// Traces and plans ahead.
  void prepare(Step step, std::span<const tensor::Spec> arguments);

  // The answers to these may be others after the next call: a step that is
  // traced is refused where it asks.

  /// The latest program. THROWS: ValueError where there is none.
  const Program& program(const CallSite& site = CallSite::here()) const;
  const Plan& plan(const CallSite& site = CallSite::here()) const;
  /// The memory that a run of it needs, and the measurements of it.
  Prediction prediction(const CallSite& site = CallSite::here()) const;
  Measured measured(const CallSite& site = CallSite::here()) const;
  int programs(const CallSite& site = CallSite::here()) const;
  /// The number of times that the step was traced.
  std::int64_t traces(const CallSite& site = CallSite::here()) const;
  Bytes arena_bytes(const CallSite& site = CallSite::here()) const;
  /// The reason of the latest trace, in one line; empty: there was none.
  const std::string& why(const CallSite& site = CallSite::here()) const;
  /// Sets where the times of the calls to come go (Compiled::profile);
  /// nullptr: nowhere.
  void set_profile(Profile* profile);
  /// Frees everything; the next call traces again.
  void reset();

 private:
  StepCore& core() const;

  memory::Owned<StepCore> core_;
};

/// The calls of a step go into a profile while this lives.
class ProfileGuard {
 public:
  ProfileGuard(CompiledStep& step, Profile& profile) : step_(step) {
    step.set_profile(&profile);
  }
  ~ProfileGuard() { step_.set_profile(nullptr); }
  ProfileGuard(const ProfileGuard&) = delete;
  ProfileGuard& operator=(const ProfileGuard&) = delete;

 private:
  CompiledStep& step_;
};

}  // namespace neap::compiler
