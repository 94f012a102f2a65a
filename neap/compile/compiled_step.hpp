// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CompiledStep: what is behind neap::compile's callable, whatever its types: a
// bounded set of programs over one arena. Calls may come from any thread, one
// at a time.
#pragma once

#include <array>
#include <atomic>
#include <string>

#include "neap/compile/executor.hpp"
#include "neap/compile/options.hpp"
#include "neap/compile/prediction.hpp"
#include "neap/compile/trace.hpp"

namespace neap::compiler {

/// An argument of a call: a tensor, or a number (a tensor of rank 0 then).
struct Argument {
  const Tensor* tensor = nullptr;
  double number = 0.0;
  bool is_exact = true;  // a double is the number
};

class NEAP_API CompiledStep {
 public:
  /// THROWS: ValueError for options that make no sense; OutOfMemory.
  CompiledStep(const CompileOptions& options, const CallSite& site);
  ~CompiledStep();
  CompiledStep(const CompiledStep&) = delete;
  CompiledStep& operator=(const CompiledStep&) = delete;

  /// Runs the program for these arguments, traced first where there is none.
  /// `expect` is told how many results there will be before a run, and may
  /// throw; `take` is given them before another call may begin. What a call
  /// that throws has made goes with it, but for what a run needs that began.
  /// THROWS: as trace() and Executor; PlanError; ValueError for arguments that
  /// a step cannot take, and while another call runs.
  void call(Step step, std::span<const Argument> arguments,
            base::FunctionRef<void(std::size_t)> expect,
            base::FunctionRef<void(std::span<Tensor>)> take);
  /// Traces and plans ahead.
  void prepare(Step step, std::span<const tensor::Spec> arguments);

  /// The latest program. THROWS: ValueError where there is none.
  const Program& program() const { return latest().program(); }
  const Plan& plan() const { return latest().plan(); }
  /// The needs of a run of it, and what was seen of them.
  Prediction prediction() const;
  Measured measured() const;
  int programs() const noexcept { return static_cast<int>(entries_.size()); }
  /// How often the step was traced.
  std::int64_t traces() const noexcept { return traces_; }
  Bytes arena_bytes() const noexcept { return arenas_.bytes(); }
  /// Why the latest trace was made, in one line; empty: there was none.
  const std::string& why() const noexcept { return why_; }
  /// Gives everything back; the next call begins anew.
  void reset();

 private:
  struct Entry {
    memory::Owned<Executor> executor;
    bool may_grow = false;  // the arena is made to fit it
    bool is_new = true;     // its call has not got to a run yet
    std::int64_t calls = 0;
  };
  class Turn;
  class Attempt;
  const Executor& latest() const;
  void call_as_part(Step step, std::span<const Argument> arguments,
                    base::FunctionRef<void(std::size_t)> expect,
                    base::FunctionRef<void(std::span<Tensor>)> take);
  void take_arguments(std::span<const Argument> arguments);
  GivenArguments given(std::span<const tensor::Spec> specs) const;
  Tensor number(std::size_t i, double value);
  static Tensor part_number(double value, std::span<const Argument> arguments);
  void use(const Executor& executor) noexcept;
  Entry& find(Step step);
  Entry* find_traced(std::span<const tensor::Spec> specs) noexcept;
  Entry& add(Step step, std::span<const tensor::Spec> specs, bool may_grow);
  void add_sizes(Step step, std::span<const tensor::Spec> specs);
  void verify(Step step, Entry& entry);
  void explain(std::span<const tensor::Spec> specs);
  memory::Owned<Executor> make(Program program, const Passes& passes) const;
  memory::Owned<Executor> make_fitting(const Program& traced) const;
  void forget(Executor& executor) noexcept;
  void drop_stale();
  void take_back(Bytes arena) noexcept;
  void let_go() noexcept;
  void fit(const Entry& entry);

  CompileOptions options_;
  base::SiteId site_;
  Arenas arenas_;
  memory::Vector<Entry> entries_;  // the latest used first
  Executor* last_ = nullptr;       // whose results may be held
  Executor* ready_ = nullptr;      // has asked ahead for its first run
  std::int64_t traces_ = 0;
  std::string why_;
  std::atomic<bool> is_busy_{false};
  // Parts of the running call, or waiting for the next.
  memory::Vector<Tensor> arguments_;
  memory::Vector<tensor::Spec> specs_;
  memory::Vector<std::uint8_t> is_number_;  // of each
  memory::Vector<Tensor> numbers_;          // by position
  memory::Vector<Tensor> results_;
};

}  // namespace neap::compiler
