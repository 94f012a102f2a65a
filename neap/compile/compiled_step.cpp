// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/compiled_step.hpp"

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/compile/step_core.hpp"
#include "neap/compile/watcher.hpp"

namespace neap::compiler {
namespace {

// Runs, and tells the watcher why there is no plan, where that is so.
template <class Run>
void run_told(const Run& run) {
  try {
    run();
  } catch (const PlanError& error) {
    if (StepWatcher* watcher = step_watcher()) {
      watcher->refused(error.what());
    }
    throw;
  }
}

void tell_of_question(const char* function, const CallSite& site) noexcept {
  base::tell_of_question(function, "about the programs of a compiled step",
                         site);
}

}  // namespace

CompiledStep::CompiledStep(const CompileOptions& options, const CallSite& site)
    : core_(memory::make_owned<StepCore>(memory::Category::kGraph, options,
                                         site)) {}
CompiledStep::CompiledStep(CompiledStep&& other) noexcept = default;
CompiledStep& CompiledStep::operator=(CompiledStep&& other) noexcept = default;
CompiledStep::~CompiledStep() = default;

StepCore& CompiledStep::core() const {
  if (!core_) {
    base::raise<UseAfterRelease>(
        "compile: the compiled step was moved from; call the one that it was "
        "moved to");
  }
  return *core_;
}

void CompiledStep::call(Step step, std::span<const Argument> arguments,
                        base::FunctionRef<void(std::size_t)> expect,
                        base::FunctionRef<void(std::span<Tensor>)> take) {
  run_told([&] { core().call(step, arguments, expect, take); });
}

void CompiledStep::prepare(Step step, std::span<const tensor::Spec> arguments) {
  run_told([&] { core().prepare(step, arguments); });
}

const Program& CompiledStep::program(const CallSite& site) const {
  tell_of_question("program", site);
  return core().program();
}

const Plan& CompiledStep::plan(const CallSite& site) const {
  tell_of_question("plan", site);
  return core().plan();
}

Prediction CompiledStep::prediction(const CallSite& site) const {
  tell_of_question("prediction", site);
  return core().prediction();
}

Measured CompiledStep::measured(const CallSite& site) const {
  tell_of_question("measured", site);
  return core().measured();
}

int CompiledStep::programs(const CallSite& site) const {
  tell_of_question("programs", site);
  return core().programs();
}

std::int64_t CompiledStep::traces(const CallSite& site) const {
  tell_of_question("traces", site);
  return core().traces();
}

Bytes CompiledStep::arena_bytes(const CallSite& site) const {
  tell_of_question("arena_bytes", site);
  return core().arena_bytes();
}

const std::string& CompiledStep::why(const CallSite& site) const {
  tell_of_question("why", site);
  return core().why();
}

void CompiledStep::set_profile(Profile* profile) {
  core().set_profile(profile);
}

void CompiledStep::reset() {
  core().reset();
}

}  // namespace neap::compiler
